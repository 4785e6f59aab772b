// A client that sends HTTP requests to HarperDB's operations API. NodeClient in crates/contract describes its exports.

import http from "node:http";
import https from "node:https";

export async function open({ socket, url, authorization, database }) {
  const { Agent, request } = url?.startsWith("https:") ? https : http;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "Content-Type": "application/json", Authorization: authorization };

  // Sends an operation and resolves to its answer.
  const operation = (body) => new Promise((resolve, reject) => {
    const options = { method: "POST", path: "/", agent, headers };
    const sent = socket
      ? request({ ...options, socketPath: socket })
      : request(url, options);
    sent.on("error", reject).on("response", (answer) => {
      const parts = [];
      answer.on("error", reject).on("data", (part) => parts.push(part)).on("end", () => {
        const text = Buffer.concat(parts).toString();
        if (answer.statusCode >= 400) reject(new Error(`${answer.statusCode}: ${text}`));
        else resolve(JSON.parse(text));
      });
    });
    sent.end(JSON.stringify(body));
  });

  const insertTogether = async (table, records) => {
    const answer = await operation({ operation: "insert", database, table, records });
    return answer.inserted_hashes.length;
  };

  const { version } = await operation({ operation: "registration_info" });
  return {
    version: `HTTP requests to HarperDB ${version}`,
    insertTogether,
    insertEach: async (table, rows, expired) => {
      let inserted = 0;
      for (const row of rows) {
        if (inserted > 0 && expired()) break;
        inserted += await insertTogether(table, [row]);
      }
      return inserted;
    },
    count: async (table, column) => {
      const sql = `SELECT COUNT(${column}) AS n FROM ${database}.${table}`;
      const [row] = await operation({ operation: "sql", sql });
      return row.n;
    },
    close: async () => agent.destroy(),
  };
}

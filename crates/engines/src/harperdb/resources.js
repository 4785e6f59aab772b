// A resource that exports existing tables as resources: POST /Exports/ {"database": …, "table": …}
export class Exports extends Resource {
  static loadAsInstance = false;

  async post(target, content) {
    const { database, table } = await (content ?? target);
    server.resources.set(table, databases[database][table], undefined, true);
    return { exported: table };
  }
}

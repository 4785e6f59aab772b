-- The reads of the phase read, prepared: the same keys in the same order, from a file with a
-- sensor and a time on each line. With --begin they are all of one transaction, which that begins.

sysbench.cmdline.options = {
   keys = {"File of keys", ""},
   begin = {"Statement that begins a transaction, if they are to be of one", ""},
}

function thread_init()
   connection = sysbench.sql.driver():connect()
   statement = connection:prepare("SELECT temperature, humidity, light, voltage FROM readings " ..
                                  "WHERE sensor = ? AND ts = ?")
   sensor = statement:bind_create(sysbench.sql.type.INT)
   ts = statement:bind_create(sysbench.sql.type.BIGINT)
   statement:bind_param(sensor, ts)
   keys = {}
   for line in io.lines(sysbench.opt.keys) do
      local at, when = line:match("(%d+) (%d+)")
      keys[#keys + 1] = {tonumber(at), tonumber(when)}
   end
   place, found = 0, 0
   if sysbench.opt.begin ~= "" then
      connection:query(sysbench.opt.begin)
   end
end

function event()
   place = place % #keys + 1
   local key = keys[place]
   sensor:set(key[1])
   ts:set(key[2])
   found = found + statement:execute().nrows
end

function thread_done()
   print("rows found: " .. found)
   if sysbench.opt.begin ~= "" then
      connection:query("COMMIT")
   end
   statement:close()
   connection:disconnect()
end

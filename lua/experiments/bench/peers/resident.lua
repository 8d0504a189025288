--- Keeps another program that the benchmark compares ours with (a peer) in memory between its
-- turns. It reads lines from a named pipe and answers through another pipe; see
-- scripts/bench/peers/common.py.

local core = require "ladies_core"
local json = require "ladies.base.json"
local ladies = require "ladies"
local quoted = require "ladies.base.shell_word"

local Resident = {__name = "Resident"}
Resident.__index = Resident

-- Returns the last line of a file that says anything.
local function last_line(path)
  local last = "it ended without a word"
  for line in io.lines(path) do
    if line:find "%S" then last = line end
  end
  return last
end

--- Resident.start(python, peer, folder): starts the peer {script, word} on the case in the folder
-- and waits until it is ready; returns nil and a line that says why where it does not start.
function Resident.start(python, peer, folder)
  local pipe, log = folder .. "/lines", folder .. "/errors"
  os.remove(pipe)
  local process <close> = core.process.start{"mkfifo", pipe}
  if process:wait() ~= 0 then return nil, "there is no named pipe at " .. pipe end
  local script = ("%s/scripts/bench/peers/%s.py"):format(ladies.home(), peer[1])
  -- Open for both ways, which does not wait for a reader.
  local self = setmetatable({input = assert(io.open(pipe, "r+")), log = log}, Resident)
  self.input:setvbuf "line"
  self.output = io.popen(("exec %s -B %s %s %s < %s 2> %s"):format(quoted(python), quoted(script),
    quoted(folder), peer[2] or "", quoted(pipe), quoted(log)))
  local line
  repeat line = self.output:read "l" until not line or line:find "^ready"
  if line then
    self.name = line:match "^ready (.*)"
    return self
  end
  self:close()
  return nil, ("%s: %s"):format(table.concat(peer, " "), last_line(log))
end

--- Raises an error: the peer ended in the middle of `what`, and said this last.
function Resident:ended(what)
  error(("%s: it ended in the middle of %s (%s)"):format(self.name, what, last_line(self.log)), 0)
end

--- Asks the peer how far its mini-batch is from ours, as relative differences: name -> number;
-- values that it does not check are left out.
function Resident:check()
  self.input:write "check\n"
  return json.decode(self.output:read "l" or self:ended "its check")
end

--- Has the peer do n pieces of work. Returns their seconds in three arrays: in all, for sampling,
-- and for gathering features.
function Resident:run(n)
  self.input:write("run ", n, "\n")
  local whole, sampling, gathering = {}, {}, {}
  for line in self.output:lines() do
    if line == "ok" then return whole, sampling, gathering end
    local a, b, c = line:match "^(%S+) (%S+) (%S+)$"
    if a then
      whole[#whole + 1], sampling[#sampling + 1] = tonumber(a) / 1e3, tonumber(b) / 1e3
      gathering[#gathering + 1] = tonumber(c) / 1e3
    end
  end
  self:ended "its work"
end

--- Tells the peer to quit, and waits until it has.
function Resident:close()
  self.input:write "quit\n"
  self.input:close()
  self.output:close()
end

Resident.__close = Resident.close

return Resident

--- Gives the large tensors of exact inference a room: so many bytes of memory, and temporary files
-- for what does not fit there. An inference within another one shares the other's room.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local machine = require "ladies.base.machine"
local options = require "ladies.base.options"
local units = require "ladies.base.units"

local Room = {__name = "Room"}
Room.__index = Room

local HELPS = "; more memory (--memory, in Lua memory), another disk (by TMPDIR, in Lua folder) "
  .. "or, of nodes, sampled inference helps"

local around      -- the Room in whose `within` this is, and which all inference shares

-- Returns the default folder of temporary files, not /tmp, since they may be larger than a /tmp
-- that is in memory.
local function default_folder()
  return os.getenv "TMPDIR" or core.exists "/var/tmp" and "/var/tmp" or "/tmp"
end

--- Room.new(where, memory, folder) -> Room: of so many bytes of memory, also as "4G", and files in
-- the folder; by default those of the room around it, or half of the machine's memory, and TMPDIR.
function Room.new(where, memory, folder)
  return setmetatable({
    folder = folder or around and around.folder or default_folder(),
    memory = memory and units.bytes(where .. ": memory", memory)
      or around and around.memory or machine.memory() // 2,
  }, Room)
end

--- room:was_used() -> boolean: whether something was computed in it.
function Room:was_used() return self.core ~= nil end

--- room:use() -> integer, integer: the most bytes that the last computation had in memory and in
-- files at a time.
function Room:use()
  if not self.core then return 0, 0 end
  local in_memory, in_files = core.room_use(self.core)
  return in_memory, in_files
end

--- room:was_short() -> boolean: whether the last computation failed because neither the memory nor
-- the disk had room for it.
function Room:was_short()
  return self.is_short or self.core ~= nil and select(3, core.room_use(self.core))
end

-- Returns the results of a protected call that succeeded, and raises the error of one that failed.
-- An error that is due to a lack of memory or disk space says what helps.
local function finish(room, ok, ...)
  if ok then return ... end
  if not room:was_short() then errors.pass_on(...) end
  errors.fail(errors.message(...) .. HELPS)
end

-- Calls f(...) with its large tensors in the room around this one, whose call then says what helps
-- where there is too little, or else in this one, which is made empty; returns its results.
local function inside(room, f, ...)
  room.is_short = false
  if around then
    room.core = around.core
    return core.in_room(room.core, f, ...)
  end
  room.core = core.room(room.memory, room.folder)
  return finish(room, errors.try(core.in_room, room.core, f, ...))
end

--- room:call(f, ...): calls f(core_room, ...) with its large tensors in the room, computed some
-- rows at a time, and returns its results.
function Room:call(f, ...)
  return inside(self, function(...) return core.by_rows(f, self.core, ...) end, ...)
end

--- room:within(f, ...): calls f(...) with its large tensors, and those of all exact inference in
-- it, together in the room, and returns its results.
function Room:within(f, ...)
  options.value("room:within", "what is called", f, "callable")
  local before = around
  local _ <close> = setmetatable({}, {__close = function() around = before end})
  return inside(self, function(...)
    around = around or self
    return f(...)
  end, ...)
end

--- room:check_disk(bytes, present): fails where the disk has not so many bytes for files, of which
-- it has `present` already.
function Room:check_disk(bytes, present)
  local free = core.folder.free(self.folder)
  self.is_short = free + present < bytes
  if not self.is_short then return end
  errors.fail(("exact inference needs %s of disk for what it computes, and %s has %s free%s")
    :format(units.size(bytes), self.folder, units.size(free), HELPS))
end

return Room

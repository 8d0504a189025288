--- Handles folders in which this program keeps its files, such as runs and caches. Only this
-- program writes in them, one process at a time.
--
-- The marker ladies.json tells the kind of a folder and the version that made it. A folder that
-- holds files and no marker, or the marker of another kind, is somebody else's: nothing in it is
-- written, replaced or removed. Who works in a folder holds its lock, which the system takes back
-- when the process ends, in whatever way.

local core = require "ladies_core"
local errors = require "ladies.base.errors"
local json = require "ladies.base.json"
local options = require "ladies.base.options"

local own_folder = {}

local MARKER, LOCK = "ladies.json", ".ladies.lock"
local PATIENCE = 10      -- seconds for another process to make the same folder

local Folder = {__name = "Folder"}
Folder.__index = Folder

--- Returns an object for the folder at `path`, a text that must not be empty; the disk is not
-- touched yet.
function own_folder.at(path)
  options.value("a folder", "the path", path, "string")
  if path == "" then errors.fail "the path of a folder is empty" end
  return setmetatable({path = path}, Folder)
end

--- Returns the path of a file in the folder.
function Folder:file(name)
  return self.path .. "/" .. options.value("a folder", "the name of the file", name, "string")
end

-- Tells whether the folder lists something of that name; a link that leads nowhere counts.
local function lists(folder, name)
  for _, one in ipairs(core.files(folder.path)) do
    if one == name then return true end
  end
  return false
end

--- Tells whether a file of that name is there. Anything else of that name, such as a folder, a fifo
-- or a link that leads nowhere, is an error: it is neither the file nor the lack of one.
function Folder:has(name)
  local path = self:file(name)
  local kind = core.exists(path)
  if kind == "file" then return true end
  if kind or core.exists(self.path) == "folder" and lists(self, name) then
    errors.fail(("%s is %s, not a regular file"):format(path, kind == "folder" and "a folder"
      or kind and "a fifo or a device" or "a link that leads nowhere"))
  end
  return false
end

--- Writes plain data as indented JSON; the file appears whole or not at all.
function Folder:write_json(name, value)
  core.file.write(self:file(name), json.encode(value, "  ") .. "\n")
end

--- Reads a JSON file of the folder and returns its data; an error names the file when it is
-- missing, not JSON, or holds no object.
function Folder:read_json(name)
  return json.read_object(self:file(name))
end

--- Returns the kind of the folder, which its marker names; nil without a marker.
function Folder:kind()
  if not self:has(MARKER) then return nil end
  local ok, marker = errors.try(self.read_json, self, MARKER)
  return ok and type(marker) == "table" and type(marker.kind) == "string" and marker.kind or nil
end

-- Tells whether the folder holds any file, not counting a marker that is just being written.
local function holds_files(folder)
  for _, name in ipairs(core.files(folder.path)) do
    if not name:find("^" .. MARKER .. "%.tmp") then return true end
  end
  return false
end

--- Fails unless the folder is one of this kind, or may become one: it is empty or not there.
function Folder:check(kind)
  local occupied = holds_files(self)      -- looked at first: another process may begin here
  local found = self:kind()
  if found == kind then return end
  if found then
    errors.fail(("%s holds a %s, not a %s, and is left as it is; choose another folder"):format(
      self, found, kind))
  elseif core.exists(self.path) == "file" then
    errors.fail(("%s is a file; choose another name for the folder"):format(self))
  elseif occupied then
    errors.fail(("%s holds files and no %s that says they are of a %s: they are left as they are; "
      .. "choose a new or an empty folder"):format(self, MARKER, kind))
  end
end

--- Removes temporary files left by processes that have ended, if this folder belongs to the
-- program.
function Folder:sweep()
  for _, name in ipairs(core.files(self.path)) do
    local process = name:match "^.+%.tmp(%d+)%-%d+$"
    if process and not core.process.lives(math.tointeger(tonumber(process)) or 0) then
      core.folder.remove(self:file(name))
    end
  end
end

--- Locks the folder for this process alone, until the <close> variable that holds the result goes
-- out of scope. It is made where there is none, and becomes one of this kind. Where another process
-- has it, that is an error after so many `seconds` (0).
function Folder:take(kind, seconds)
  self:check(kind)
  core.folder.make(self.path)
  local lock, holder = core.folder.lock(self:file(LOCK), seconds)
  if not lock then
    errors.fail(("%s: another process is at work there%s"):format(self,
      holder ~= "" and (" (%s)"):format(holder) or ""))
  end
  self:check(kind)
  if not self:has(MARKER) then self:write_json(MARKER, {kind = kind, version = core.version}) end
  self:sweep()
  return lock
end

--- Creates the folder, or writes the marker of this kind into an empty one, if that has not been
-- done yet.
function Folder:make(kind)
  if self:kind() ~= kind then local _ <close> = self:take(kind, PATIENCE) end
end

--- Removes the folder with all that is in it, if it is one of this kind and nobody is at work
-- there; one of another kind is an error, and none at all is fine. Links are not followed.
function Folder:remove(kind)
  if not core.exists(self.path) then return end
  local _ <close> = self:take(kind)
  self:remove_taken()
end

--- Removes the folder, which this process has locked, with all that is in it. The marker goes last,
-- so that what an interrupted removal leaves is still recognized.
function Folder:remove_taken()
  for _, name in ipairs(core.files(self.path)) do
    if name ~= MARKER then core.folder.remove(self:file(name)) end
  end
  core.folder.remove(self.path)
end

--- Removes a folder that a killed process has left behind, in the way of Folder:remove. A folder
-- that no process has begun to make one of this kind stays.
function Folder:remove_left(kind)
  if self:kind() == kind or core.exists(self:file(LOCK)) then self:remove(kind) end
end

function Folder:__tostring()
  return self.path
end

return own_folder

--- Keeps the history of the prompt in a file.

local core = require "ladies_core"
local errors = require "ladies.base.errors"

local history = {}

local ENTRIES = 1000

--- Returns the path of the history file, or nil if no history is kept: LADIES_HISTORY, else
-- ladies/history under XDG_STATE_HOME or ~/.local/state.
function history.file()
  local chosen = os.getenv "LADIES_HISTORY"
  if chosen then return chosen ~= "" and chosen or nil end
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if state and state:find("^/") then return state .. "/ladies/history" end
  return home and home:find("^/") and home .. "/.local/state/ladies/history" or nil
end

-- Escapes in the history file, which has one entry a line, with \n and \\ for a newline and a
-- backslash. A file that cannot be read or written is ignored silently.
local ENCODE, DECODE = {["\n"] = "\\n", ["\\"] = "\\\\"}, {["\\n"] = "\n", ["\\\\"] = "\\"}

local function write_entries(path, mode, entries)
  local file = require("ladies_host").make_private(path) and io.open(path, mode)
  if not file then return end
  for _, entry in ipairs(entries) do file:write((entry:gsub("[\n\\]", ENCODE)), "\n") end
  file:close()
end

--- Reads the entries of the history file, the oldest first, and shortens a file that has grown too
-- long.
function history.read()
  local path, entries = history.file(), {}
  local ok, text = errors.try(core.file.read, path or "")     -- of a regular file alone
  for line in (ok and text or ""):gmatch "[^\n]+" do
    entries[#entries + 1] = line:gsub("\\.", DECODE)
  end
  if #entries <= ENTRIES then return entries end
  local latest = table.move(entries, #entries - ENTRIES + 1, #entries, 1, {})
  if #entries > 2 * ENTRIES then write_entries(path, "w", latest) end
  return latest
end

--- Adds an entry to the history file immediately, so that sessions share it and nothing is lost
-- when one crashes.
function history.append(entry)
  local path = history.file()
  if path then write_entries(path, "a", {entry}) end
end

return history

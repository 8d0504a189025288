--- commit() -> string | nil: the git commit to which this program's files belong, such as
-- "4cead69"; "4cead69+" where its files have been changed since. An installed program has it in a
-- file, which the installation wrote. nil where neither a checkout nor that file tells.

local core = require "ladies_core"
local home = require "ladies.base.home"
local shell_word = require "ladies.base.shell_word"

-- The folders and files whose changes can change computed numbers. Changes elsewhere, such as in
-- the documentation, do not count.
local CODE = "CMakeLists.txt datasets lua scripts src"

-- Returns what git prints in a folder, without the end of the line, or nil where git fails.
local function git(folder, words)
  local pipe = io.popen(("git -C %s %s 2>/dev/null"):format(shell_word(folder), words))
  if not pipe then return nil end                    -- no program can be started
  local text = pipe:read "a":match "^(.-)%s*$"
  return pipe:close() and text or nil
end

local function of_checkout(root)
  local hash = git(root, "rev-parse --short=7 HEAD")
  return hash and hash .. (git(root, "diff --quiet HEAD -- " .. CODE) and "" or "+")
end

local function find()
  local scripts = home() .. "/scripts"
  local root = core.exists(scripts) and core.real_path(scripts):match "^(.*)/"
  if root and core.exists(root .. "/.git") then return of_checkout(root) end
  local path = home() .. "/commit"
  local text = core.exists(path) == "file" and core.file.read(path):match "^%x+%+?"
  return text or nil
end

local found

return function()
  if found == nil then found = find() or false end
  return found or nil
end

--- Lists the commands `ladies NAME`, which are the scripts in the program's own tree. A script says
-- what it does in its first line, `-- ladies NAME: what it does`; the comment below that line is
-- its manual. The names of commands have hyphens where those of their files have underscores.

local core = require "ladies_core"
local host = require "ladies_host"
local options = require "ladies.base.options"

local commands = {}

local FOLDER = host.prefix .. "/share/ladies/scripts/"

-- Returns the comment at the beginning of a command's script, without its dashes.
local function opening_comment(name)
  local lines = {}
  for line in io.lines(host.script(name)) do
    local text = line:match("^%-%- ?(.*)")
    if not text and not line:find("^#!") then break end
    lines[#lines + 1] = text
  end
  return lines
end

--- Returns the names of all commands, sorted.
function commands.names()
  local names = {}
  for _, file in ipairs(core.files(FOLDER)) do
    local name = file:match "^(.+)%.lua$"
    if name then names[#names + 1] = name:gsub("_", "-") end
  end
  return names
end

--- Returns a text with a line for each command: its name and what it does.
function commands.summary()
  local names, lines, widest = commands.names(), {}, 0
  for _, name in ipairs(names) do widest = math.max(widest, #name) end
  for i, name in ipairs(names) do
    local text = (opening_comment(name)[1] or ""):match("^ladies [%w_-]+: (.+)") or ""
    lines[i] = (("  %-" .. widest .. "s  %s"):format(name, text):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

--- Returns the manual of one command, or nil when there is none of this name.
function commands.manual(name)
  return host.script(name) and table.concat(opening_comment(name), "\n")
end

--- Returns the name of the command that is nearest to a mistyped one, or nil.
function commands.nearest(name) return options.nearest(name, commands.names()) end

--- Returns the error message for a command that does not exist.
function commands.unknown(name)
  local near = commands.nearest(name)
  local hint = near and ("; did you mean '%s'?"):format(near) or ""
  return ("no command '%s'%s ('ladies help' lists them; to run a file, write ./%s)")
    :format(name, hint, name)
end

return commands

--- Makes the man page ladies(1), in the language of man(7), from the help of the program and its
-- commands.

local core = require "ladies_core"
local described = require "ladies.command.described"
local host = require "ladies_host"
local tables = require "ladies.base.tables"

-- Escapes a text for roff: backslashes and hyphens are shown as they are, and no line is read as a
-- request.
local function plain(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("%f[^\n\0]([.'])", "\\&%1"))
end

-- Returns a text as a paragraph that roff breaks into lines itself.
local function flow(text) return plain((text:gsub("%s+", " "))) end

-- Returns a text whose lines roff leaves as they are.
local function listing(text) return ".nf\n" .. plain(text) .. "\n.fi" end

local function option_lines(option)
  return {".TP", (".B %s"):format(plain("--" .. option.name)) .. (option.value
    and (" \\fI%s\\fR"):format(plain(option.value)) or ""), flow(option.help)}
end

local function command_lines(one)
  local lines = {".SS " .. plain("ladies " .. one.name), flow(one.summary) .. "."}
  if one.manual ~= "" then tables.append(lines, {".PP", listing(one.manual)}) end
  for _, option in ipairs(one.options or {}) do tables.append(lines, option_lines(option)) end
  return lines
end

--- Returns the text of the whole man page.
return function()
  local lines = {
    (".TH LADIES 1 \"\" \"ladies %s\" \"User Commands\""):format(core.version),
    ".SH NAME", "ladies \\- " .. plain "trains deep graph convolutional networks by sampling",
    ".SH SYNOPSIS", listing(host.usage:gsub("^usage:", "      ")),
    ".SH COMMANDS",
  }
  for _, one in ipairs(described()) do tables.append(lines, command_lines(one)) end
  tables.append(lines, {".SH SEE ALSO", ".BR lua (1)", ".PP",
    "The pages of documentation beside the program, in share/ladies/doc."})
  return table.concat(lines, "\n") .. "\n"
end

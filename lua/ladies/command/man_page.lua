--- The man page ladies(1), in the language of man(7), of what the program and its commands say of
-- themselves.

local core = require "ladies_core"
local described = require "ladies.command.described"
local host = require "ladies_host"
local tables = require "ladies.base.tables"

-- A text as roff shows it: backslashes and hyphens as they are, and no line read as a request.
local function plain(text)
  return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("%f[^\n\0]([.'])", "\\&%1"))
end

-- A text in words, on one line.
local function flow(text) return plain((text:gsub("%s+", " "))) end

-- A text with its lines as they are.
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

--- The whole page.
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

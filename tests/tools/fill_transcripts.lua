-- ladies tests/tools/fill_transcripts.lua PAGE: writes a page anew, with today's answers in its
-- transcripts, what its commands print today, which may take its time, and today's lines of code in
-- the tables of samplers and models.
package.path = arg[0]:match "^(.*)tools/" .. "?.lua;" .. package.path

local files = require "tools.files"
local outputs = require "tools.outputs"
local page_commands = require "tools.page_commands"
local recounted = require "tools.recounted"
local shell = require "tools.shell"
local transcripts = require "tools.transcripts"

local page = files.read(arg[1])
if page:find("\n```output", 1, true) then
  local folder <close> = shell.folder()
  page = outputs.filled(page, page_commands(arg[1], folder.path))
end
for _, what in ipairs{"methods", "models"} do
  local command = "ladies bench " .. what
  if page:find("<!-- " .. command .. " -->", 1, true) then
    page = recounted(page, command, require("experiments.bench." .. what).lines)
  end
end
files.write(arg[1], (transcripts.filled(page)))

-- ladies tests/tools/fill_transcripts.lua PAGE: writes a page anew, with today's answers in its
-- transcripts, and what its commands print today, which may take its time.
package.path = arg[0]:match "^(.*)tools/" .. "?.lua;" .. package.path

local files = require "tools.files"
local outputs = require "tools.outputs"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"
local transcripts = require "tools.transcripts"

local page = files.read(arg[1])
if page:find("\n```output", 1, true) then
  local folder <close> = shell.folder()
  page = outputs.filled(page, page_commands(arg[1], folder.path))
end
files.write(arg[1], (transcripts.filled(page)))

-- ladies tests/tools/fill_transcripts.lua PAGE: writes a page anew, with today's answers in its
-- transcripts.
package.path = arg[0]:match "^(.*)tools/" .. "?.lua;" .. package.path

local files = require "tools.files"
local transcripts = require "tools.transcripts"

local filled = transcripts.filled(files.read(arg[1]))
files.write(arg[1], filled)

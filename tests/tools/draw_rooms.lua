-- ladies tests/tools/draw_rooms.lua: draws doc/guide/rooms.svg anew.
local here = arg[0]:match "^(.*)tools/"
package.path = here .. "?.lua;" .. package.path

local files = require "tools.files"
local rooms_picture = require "tools.rooms_picture"

files.write(here .. "../doc/guide/rooms.svg", rooms_picture(here .. ".."))

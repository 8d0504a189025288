--- doc/story.md: it is short, and its commands, run in small, draw the pictures that it shows.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ladies = require "ladies"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page = root .. "/doc/story.md"

-- Commands that take from a quarter of an hour to hours, whose options alone are tried;
-- test_search and test_followers run them on toys.
local LONG = {"ladies followers", "ladies lab search"}

local function is_long(command)
  for _, start in ipairs(LONG) do
    if command:sub(1, #start) == start then return true end
  end
  return false
end

-- A command of the page in small, on a small graph.
local function in_small(command)
  if is_long(command) then return command .. " --help" end
  return (command:gsub("cora", "./graph.npz"):gsub("pubmed", "./graph.npz")
    :gsub("^ladies lab", "%0 --seconds 0.2 --hidden 16 --batch-size 64")
    :gsub("^ladies compare", "%0 --runs 1 --max-batches 20 --hidden 16")
    :gsub("^ladies costs", "%0 --quick --methods graphsage,ladies --scale 0.1"))
end

-- The pictures of the page, {file =, drawn = where its command leaves it}, in their order.
local function pictures()
  local list = {}
  for line in files.read(page):gmatch "[^\n]+" do
    local file = line:match "^!%[.+%]%((.+%.svg)%)$"
    if file then list[#list + 1] = {file = file} end
    local drawn = line:match "^%*.+: (%S+%.svg) of%*$"
    if drawn then list[#list].drawn = drawn end
  end
  return list
end

local function title_of(svg) return svg:match '<text class="title".->(.-)</text>' end

--- A reader has ten minutes.
function tests.test_it_is_short()
  local _, words = files.read(page):gsub("%S+", "")
  lu.assertTrue(words <= 1200, words)
end

--- Every command that is not a long one leaves the picture that its caption names, with the title,
-- but for the name of the graph, of the picture that is shown.
function tests.test_the_commands_draw_the_pictures()
  local folder <close> = shell.folder()
  ladies.data.save(ladies.generate.power_law{nodes = 600, entries = 4000, features = 16,
    classes = 3, signal = 0.5}, folder.path .. "/graph.npz")
  page_commands(page, folder.path, in_small)
  local shown, made = pictures(), 0
  lu.assertEquals(#shown, 6)
  for _, picture in ipairs(shown) do
    local svg = files.read(root .. "/doc/" .. picture.file)
    local path = folder.path .. "/" .. picture.drawn
    if core.exists(path) then
      lu.assertEquals((title_of(files.read(path)):gsub("^graph$", "cora")), title_of(svg))
      made = made + 1
    end
  end
  lu.assertEquals(made, 6 - #LONG)
end

return tests

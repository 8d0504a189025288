--- doc/story.md: it is short, its numbers are those of the sections that it links to, and its
-- commands, run in small, draw the pictures that it shows.
local lu = require "luaunit"
local core = require "ladies_core"
local files = require "tools.files"
local ladies = require "ladies"
local markdown = require "tools.markdown"
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

-- The parts of the page between blank lines, each with the lists that follow it.
local function paragraphs()
  local list = {}
  for part in (table.concat(markdown.prose(page), "\n") .. "\n\n"):gmatch "(.-)\n\n+" do
    if part:find "^%* " then
      list[#list] = list[#list] .. "\n" .. part
    else
      list[#list + 1] = part
    end
  end
  return list
end

-- The text of the sections to which a paragraph links.
local function linked(paragraph)
  local texts = {}
  for file, anchor in paragraph:gmatch "%]%(([^)#]+%.md)#([^)]+)%)" do
    texts[#texts + 1] = markdown.sections(root .. "/doc/" .. file)[anchor]
  end
  return table.concat(texts, "\n")
end

-- Tells whether a text has a number that is the wanted one when it is written as shortly.
local function has_number(text, wanted)
  local digits = #(wanted:match "%.(%d+)" or "")
  for number in text:gmatch "%f[%d.]%d+%.?%d*" do
    if ("%%.%df"):format(digits):format(number) == wanted then return true end
  end
  return false
end

--- A number with decimals or in per cent is in a section to which its paragraph links.
function tests.test_numbers()
  local count = 0
  for _, paragraph in ipairs(paragraphs()) do
    local text = linked(paragraph)
    local is_caption = paragraph:find "^!" or paragraph:find "^%*[^*]"
    local said = is_caption and "" or paragraph:gsub("%]%b()", "]")
    for number, rest in said:gmatch "(%d[%d.]*)()" do
      number = number:gsub("%.$", "")
      if number:find "^%d+%.%d+$" or said:find("^ %%", rest) then
        count = count + 1
        lu.assertTrue(has_number(text, number), ("%s in: %s"):format(number, paragraph))
      end
    end
  end
  lu.assertTrue(count > 15, count .. " numbers")
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

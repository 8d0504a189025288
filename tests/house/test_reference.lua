--- The reference, doc/reference.md and doc/reference/: it is what `ladies reference` writes, and
-- has every public function with its documentation and every operator of the classes.
local lu = require "luaunit"
local fields = require "ladies.base.fields"
local files = require "tools.files"
local help = require "ladies.prompt.help"
local ladies = require "ladies"
local pages = require "ladies.command.reference.pages"
local shell = require "tools.shell"

local tests = {}
local doc = os.getenv "LADIES_SOURCE" .. "/doc/"
local written = pages()

-- Metamethods that one does not write: what they do has no place in the reference.
local NOT_WRITTEN = {__gc = true, __tostring = true, __close = true, __index = true,
  __show = true, __html = true, __svg = true, __words = true}

local function joined()
  local texts = {}
  for path, text in pairs(written) do texts[#texts + 1] = path ~= "reference.md" and text or "" end
  return table.concat(texts)
end
local all = joined()

local function has_heading(name) return all:find("\n### " .. name .. "\n", 1, true) ~= nil end

function tests.test_it_is_up_to_date()
  local _ = require "ladies.data.generate".labels          -- the pages name what plugins have
  require "ladies.data.by_runs".check()
  for path, text in pairs(written) do
    lu.assertTrue(files.read(doc .. path) == text, path .. ": write it anew: ladies reference doc")
  end
  for _, name in ipairs(require "ladies_core".files(doc .. "reference")) do
    lu.assertNotNil(written["reference/" .. name], name .. " is no page of the reference")
  end
end

function tests.test_command()
  local folder <close> = shell.folder()
  shell.succeeded(shell.run_ladies{"reference", folder.path .. "/new"})
  lu.assertTrue(files.read(folder.path .. "/new/reference/data.md") == written["reference/data.md"])
  local err = shell.refused(shell.run_ladies{"reference"})
  lu.assertStrContains(err, "where to? ladies reference FOLDER")
  shell.refuses("FOLDER or --annotations",
    shell.run_ladies{"reference", folder.path .. "/other", "--annotations"})
end

function tests.test_every_function_is_documented()
  for heading in all:gmatch "\n### ([^\n]+)\n\n```\nno documentation" do
    lu.fail(heading .. " has no docstring")
  end
end

--- The functions are found without the table of topics, from the library itself.
function tests.test_every_function_has_a_page()
  local seen, count = {}, 0
  local function visit(name, value)
    if seen[value] then return end
    seen[value] = true
    if type(value) == "function" then
      count = count + 1
      lu.assertTrue(has_heading(name) or has_heading(name:gsub("^ladies%.graph%.", "Graph:"))
        or has_heading(name:gsub("^ladies%.optim%.schedule", "ladies.schedule")), name)
    elseif type(value) == "table" and fields.is_module(value) then
      for key, member in pairs(value) do
        if type(key) == "string" and not key:find "^_" then visit(name .. "." .. key, member) end
      end
    end
  end
  visit("ladies", ladies)
  for name, class in pairs(help.classes()) do
    for key, value in pairs(rawget(class, "__methods") or {}) do
      count = count + 1
      lu.assertTrue(has_heading(name .. ":" .. key), name .. ":" .. key)
      lu.assertEquals(type(value), "function")
    end
  end
  lu.assertTrue(count > 350)
end

--- Every field of a module that is no function stands in a sentence of a page.
function tests.test_every_field_has_a_page()
  local seen, count = {}, 0
  local function visit(name, value)
    if seen[value] then return end
    if type(value) == "table" then
      seen[value] = true
      for key, member in pairs(value) do
        if type(key) == "string" and not key:find "^_" then visit(name .. "." .. key, member) end
      end
    elseif type(value) ~= "function" then
      count = count + 1
      lu.assertStrContains(all, ("`%s`"):format(name))
    end
  end
  for name, member in pairs(ladies) do
    if name ~= "presets" and not name:find "^_" then visit("ladies." .. name, member) end
  end
  lu.assertTrue(count > 4)
end

--- Every operator that a class has is among its page's, with what it gives.
function tests.test_operators()
  local count = 0
  for name, class in pairs(help.classes()) do
    for key, value in pairs(class) do
      if type(value) == "function" and key:find "^__%l" and not NOT_WRITTEN[key] then
        count = count + 1
        lu.assertIsTable(rawget(class, "__operators"), name .. " says nothing of " .. key)
        local text = class.__operators[key]
        lu.assertIsString(text, ("%s says nothing of %s"):format(name, key))
        lu.assertStrContains(all, "\n" .. text .. "\n")
      end
    end
  end
  lu.assertTrue(count > 15)
end

--- The operator [] is listed for the classes that have elements, and for no others, although all of
-- core look it up by one function.
function tests.test_elements()
  for _, value in ipairs{ladies.ones(2), ladies.range(1, 2), ladies.sparse(ladies.ones(1, 1)),
    ladies.rng(1), ladies.text.names(), ladies.optim.sgd{ladies.ones(1):requires_grad_()}} do
    local class = debug.getmetatable(value)
    local _, message = pcall(function() return value[1] end)
    local has_elements = not tostring(message):find "has no elements"
    lu.assertEquals((class.__operators or {}).__index ~= nil, has_elements, class.__name)
  end
end

--- A link of the contents leads to a heading.
function tests.test_links_of_the_contents()
  local count = 0
  for path, anchor in written["reference.md"]:gmatch "%((reference/%l+%.md)#([%w_]+)%)" do
    count = count + 1
    local found = false
    for heading in written[path]:gmatch "\n### ([^\n]+)" do
      found = found or heading:lower():gsub("[^%w_]", "") == anchor
    end
    lu.assertTrue(found, path .. "#" .. anchor)
  end
  lu.assertTrue(count > 350)
end

return tests

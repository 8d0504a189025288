--- doc/data.md: every listing in Lua runs on the files that the page shows, finds the five nodes
-- that the page tells of, and is followed by the training run at the top of the page. What its
-- listings in Python write comes from fixtures/make_data_page.py.
local lu = require "luaunit"
local ladies = require "ladies"
local bundle = require "tools.bundle"
local page_blocks = require "tools.page_blocks"
local shell = require "tools.shell"
local fixture = require "reference.fixture"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

local blocks = page_blocks(ladies.file.read(root .. "/doc/data.md"))

-- Writes the files of the page into a folder: those that it shows, and those that its listings in
-- Python made.
local function write_files(folder)
  local listings = {}
  for _, block in ipairs(blocks) do
    lu.assertNotNil(block.language ~= "text" or block.file, block.text .. "is no file")
    if block.file then bundle.write_file(folder .. "/" .. block.file, block.text) end
    if block.language == "python" then listings[#listings + 1] = block.text end
  end
  local made <close> = fixture.open "data_page"
  lu.assertEquals(made:text "listings", table.concat(listings),
    "the page's Python has changed: run tests/fixtures/make_data_page.py")
  bundle.write(fixture.path "data_page", folder, "")
end

-- A line for each data set that a listing makes, before it is trained on.
local REPORT = [[
do
  local f = data:facts()
  print(("%s: %d nodes, %d edges, %d isolated, classes %s, split %d %d %d, features %s"):format(
    section, f.nodes, f.edges, f.isolated, table.concat(f.class_sizes or {"none"}, " "),
    f.split.train, f.split.val or 0, f.split.test, f.features.columns))
end
]]

-- One program of all listings; each `local data` becomes the variable at its top, so that a later
-- listing may use it.
local function program()
  local parts, training = {'local ladies = require "ladies"\nlocal data, section\n'}, nil
  for _, block in ipairs(blocks) do
    if block.language == "lua" and not block.section then
      training = block.text:gsub("epochs = 5", "quiet = true, %0")
    elseif block.language == "lua" then
      local text, makes = block.text:gsub("local data =", "data =")
      parts[#parts + 1] = ("section = %q\n"):format(block.section) .. "do\n" .. text .. "end\n"
      if makes > 0 then
        parts[#parts + 1] = ("%sif data.classes then\n%send\n"):format(REPORT, training)
      end
    end
  end
  return table.concat(parts)
end

-- The sections whose data set is not the usual one: five nodes with two features, two of each class
-- and one of none.
local OTHERWISE = {
  ["content and cites"] = "classes 2 3, split 2 1 1, features 2",
  ["Many graphs"] = "classes none, split 1 0 1, features 2",
  ["Real targets"] = "classes none, split 2 1 1, features 2",
  ["No features"] = "classes 2 2, split 2 1 1, features 3",
}

function tests.test_every_listing()
  local folder <close> = shell.folder()
  write_files(folder.path)
  ladies.file.write(folder.path .. "/all.lua", program())
  local out, err = shell.succeeded(shell.run_ladies({"all.lua"}, {folder = folder.path}))
  -- The notes tell what was changed; nothing else is said.
  for line in err:gmatch "[^\n]+" do
    lu.assertTrue((line:find "now go both ways" or line:find "an inverse now"
      or line:find ": split ") ~= nil, line)
  end
  local count, seen = 0, {}
  for line in out:gmatch "[^\n]+" do
    local section, found = line:match "^(.-): (5 nodes, .*)$"
    if section then
      count, seen[section] = count + 1, true
      lu.assertEquals(found, "5 nodes, 3 edges, 1 isolated, "
        .. (OTHERWISE[section] or "classes 2 2, split 2 1 1, features 2"), section)
    end
  end
  for _, block in ipairs(blocks) do
    if block.language == "lua" and block.section then
      lu.assertTrue(seen[block.section], block.section .. " made no data set")
    end
  end
  lu.assertEquals(count, 21)
end

return tests

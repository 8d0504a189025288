--- scripts/site: the pages as a site whose links hold, in which other libraries' words are found,
-- and which is legible in a browser, wide and narrow, light and dark. Without MkDocs these are
-- skipped.
local lu = require "luaunit"
local browser = require "tools.browser"
local core = require "ladies_core"
local files = require "tools.files"
local json = require "ladies.base.json"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local root = os.getenv "LADIES_SOURCE"
local site = temporary.path "site"

-- Makes the site once; skips the test where it cannot be made.
local function made()
  browser.needs "mkdocs, material"
  if core.exists(site) then return end
  local out = shell.succeeded(shell.run{root .. "/scripts/site", site})
  lu.assertStrContains(out, "index.html on")
end

--- The search finds words of other libraries on the page that says what they are called here.
function tests.test_search()
  made()
  local found = {}
  for _, section in ipairs(json.decode(files.read(site .. "/search/search_index.json")).docs) do
    for _, word in ipairs{"DataLoader", "zero_grad", "to_undirected"} do
      if section.text:find(word, 1, true) then
        found[word] = (found[word] or "") .. section.location .. "\n"
      end
    end
  end
  for _, word in ipairs{"DataLoader", "zero_grad", "to_undirected"} do
    lu.assertStrContains(found[word] or "", "guide/pyg-dgl.html")
  end
end

--- Listings are listings, and the names of their files their titles.
function tests.test_listings()
  made()
  local page = files.read(site .. "/guide/first-sampler.html")
  lu.assertStrContains(page, '<span class="filename">')
  lu.assertNotStrContains(page, "```")
end

--- A link that leads nowhere is reported.
function tests.test_broken_link()
  made()
  local copy <close> = shell.folder()
  for _, part in ipairs{"README.md", "doc", "scripts", "tests"} do
    lu.assertEquals(select(3, shell.run{"cp", "-r", root .. "/" .. part, copy.path}), 0)
  end
  core.folder.make(copy.path .. "/build")
  local python = browser.python:match "^(.*)/bin/python$"
  lu.assertEquals(select(3, shell.run{"ln", "-s", python, copy.path .. "/build/python"}), 0)
  files.write(copy.path .. "/doc/install.md", "# Installation\n\n[gone](data.md#no-such-part)\n")
  local _, err, status = shell.run{copy.path .. "/scripts/site", copy.path .. "/site"}
  lu.assertNotEquals(status, 0)
  lu.assertStrContains(err, "no-such-part")
end

--- In a browser nothing is wider than the window, both themes show, nothing is asked of another
-- server, and the search finds a word of another library.
function tests.test_browser()
  made()
  browser.needs "playwright"
  local seen = browser.see("browse_site.py", {site, "zero_grad", "index.html", "models.html",
    "reference/tensors.html"})
  lu.assertEquals(seen.trouble, {})
  for name, page in pairs(seen.pages) do
    for width, beyond in pairs(page.beyond) do lu.assertTrue(beyond <= 0, name .. ", " .. width) end
    lu.assertNotEquals(page.background.light, page.background.dark)
  end
  lu.assertStrContains(table.concat(seen.found, "\n"), "guide/pyg-dgl.html")
end

return tests

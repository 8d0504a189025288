--- The links of README.md and doc/ lead to files and headings that are there.

local lu = require "luaunit"
local core = require "ladies_core"
local markdown = require "tools.markdown"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

-- Calls f(page, target) for each link of a page to something of ours.
local function each_link(f)
  for _, folder in ipairs{".", "doc", "doc/guide"} do
    for _, name in ipairs(core.files(root .. "/" .. folder)) do
      local page = ("%s/%s"):format(folder, name)
      for _, line in ipairs(name:find "%.md$" and markdown.prose(root .. "/" .. page) or {}) do
        for target in line:gmatch "%]%(([^)%s]+)%)" do
          if not target:find "^%l+:" then f(page, target) end
        end
      end
    end
  end
end

function tests.test_links()
  local count = 0
  each_link(function(page, target)
    count = count + 1
    local path, anchor = target:match "^([^#]*)#?(.*)$"
    local file = root .. "/" .. (path == "" and page or page:match "^(.*)/" .. "/" .. path)
    local what = ("%s: %s"):format(page, target)
    lu.assertNotNil(core.exists(file) or nil, what)
    if anchor ~= "" then lu.assertNotNil(markdown.sections(file)[anchor], what) end
  end)
  lu.assertTrue(count > 150, count)
end

return tests

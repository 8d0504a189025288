--- readme_example(): the experiment of README.md, on the toy graph in place of WordNet.
local lu = require "luaunit"
local files = require "tools.files"
local page_blocks = require "tools.page_blocks"
local toy_study = require "tools.toy_study"

return function()
  for _, block in ipairs(page_blocks(files.read(os.getenv "LADIES_SOURCE" .. "/README.md"))) do
    if block.language == "lua" then
      local text, n = block.text:gsub('load "wordnet"', ("load %q"):format(toy_study.dataset))
      lu.assertEquals(n, 1)
      return text
    end
  end
end

--- Every listing of README.md and doc/ is run by a test, or there is a reason why it is not; and
-- the commands that are not run are ones that the program takes.
local lu = require "luaunit"
local files = require "tools.files"
local pages = require "tools.pages"
local shell = require "tools.shell"

local tests = {}
local root = os.getenv "LADIES_SOURCE"

-- Page -> language of its listings -> the test that runs them; "" is a listing without a language.
local RUN = {
  ["README.md"] = {lua = "test_readme"},
  ["doc/clusters.md"] = {lua = "test_clusters_page", yaml = "test_clusters_page"},
  ["doc/data.md"] = {lua = "test_data_page", python = "test_data_page", text = "test_data_page"},
  ["doc/extending.md"] = {lua = "test_extending_page", sh = "test_extending_page"},
  ["doc/gallery.md"] = {lua = "test_gallery_page", sh = "test_gallery_page"},
  ["doc/guide/first-sampler.md"] = {lua = "test_guide", output = "test_guide",
    prompt = "test_guide", sh = "test_guide"},
  ["doc/guide/how-to.md"] = {lua = "test_guide", sh = "test_guide", text = "test_guide"},
  ["doc/guide/pyg-dgl.md"] = {lua = "test_guide", python = "test_guide", sh = "test_guide"},
  ["doc/laboratory.md"] = {lua = "test_laboratory_page", sh = "test_laboratory_page"},
  ["doc/links.md"] = {lua = "test_links_page", sh = "test_links_page"},
  ["doc/logging.md"] = {json = "test_logging_page", python = "test_logging_page",
    sh = "test_logging_page"},
  ["doc/models.md"] = {lua = "test_models_page"},
  ["doc/optimizers.md"] = {lua = "test_optimizers_page", sh = "test_optimizers_page"},
  ["doc/prompt.md"] = {prompt = "test_prompt_page"},
  ["doc/python.md"] = {lua = "test_python_page", python = "test_python_page",
    sh = "test_python_page"},
  ["doc/samplers.md"] = {lua = "test_samplers_page"},
  ["doc/story.md"] = {sh = "test_story_page"},
  ["doc/tasks.md"] = {lua = "test_tasks_page", sh = "test_tasks_page"},
  ["doc/training.md"] = {lua = "test_training_page"},
}

local FORMULAS = "formulas, not code"

-- The listings that are not run -> why.
local NOT_RUN = {
  ["README.md"] = {
    sh = "builds this program, and trains for a minute",
    [""] = "what runs of a minute printed on one machine; test_readme examines a sampler in small",
  },
  ["doc/benchmarks.md"] = {[""] = "what commands printed on one machine; they write it themselves"},
  ["doc/c.md"] = {sh = "installs; test_c_library builds and runs doc/c from a folder of its own"},
  ["doc/clusters.md"] = {sh = "starts several processes; test_ranks does, with small data",
    [""] = "an error of a machine that is not there"},
  ["doc/commands.md"] = {sh = "takes hours; test_reproduce runs the studies on toys"},
  ["doc/data.md"] = {
    sh = "fetches from elsewhere; test_fetch and test_import do it from made-up sources",
    [""] = "a file of another tool, whose lines test_from_files reads",
  },
  ["doc/extending.md"] = {[""] = "a line of a loop that the page does not show"},
  ["doc/install.md"] = {
    sh = "installs and packs; test_install and test_packages do the same in folders of their own",
    json = "settings of an editor",
  },
  ["doc/links.md"] = {console = "takes minutes; test_followers trains the same on toy data"},
  ["doc/models.md"] = {sh = "takes minutes to hours on graphs that are fetched", [""] = FORMULAS},
  ["doc/samplers.md"] = {[""] = FORMULAS},
  ["doc/testing.md"] = {
    sh = "the fuzzing itself, which needs another build", [""] = "mutation tests, of hours",
  },
  ["doc/tour.md"] = {c = "a primitive that the core does not have, as one would write it"},
}

-- Calls f(language, lines) for each listing of a page, indented ones too.
local function each_listing(page, f)
  local language, lines
  for _, line in ipairs(files.lines(root .. "/" .. page)) do
    local info = line:match "^%s*```+(.*)$"
    if not info then
      if language then lines[#lines + 1] = line end
    elseif language then
      f(language, lines)
      language = nil
    else
      language, lines = info:match "^(%w*)", {}
    end
  end
  lu.assertNil(language, page .. " has a listing without an end")
end

function tests.test_every_listing_is_run_or_has_a_reason()
  local seen, count = {}, 0
  for _, page in ipairs(pages()) do
    each_listing(page, function(language)
      local test, reason = (RUN[page] or {})[language], (NOT_RUN[page] or {})[language]
      local what = ("%s: a listing in '%s'"):format(page, language)
      lu.assertTrue((test or reason) ~= nil, what .. " is neither run nor has it a reason")
      lu.assertTrue(not (test and reason), what)
      seen[page .. language] = true
      count = count + 1
    end)
  end
  lu.assertTrue(count > 150, count)
  for _, list in ipairs{RUN, NOT_RUN} do
    for page, languages in pairs(list) do
      for language in pairs(languages) do
        lu.assertTrue(seen[page .. language], ("%s has no '%s'"):format(page, language))
      end
    end
  end
end

function tests.test_the_tests_read_the_pages()
  for page, languages in pairs(RUN) do
    for _, test in pairs(languages) do
      local text = files.read(("%s/tests/pages/%s.lua"):format(root, test))
      lu.assertStrContains(text, page:match "([^/]+)$", false, test .. " does not read " .. page)
    end
  end
end

--- Command lines that are not run have at least options that exist.
function tests.test_commands_that_are_not_run()
  local count = 0
  for page in pairs(NOT_RUN) do
    each_listing(page, function(language, lines)
      local is_shell = language == "sh" or language == "console"
      for _, line in ipairs(is_shell and not (RUN[page] or {})[language] and lines or {}) do
        local words = line:match "^ladies (%l[^#]*)"
        if words then
          shell.silent(shell.run{"sh", "-c", ("exec %s %s --help"):format(
            shell.quote(shell.ladies), words)})
          count = count + 1
        end
      end
    end)
  end
  lu.assertTrue(count > 15, count)
end

return tests

--- Makes the reference in Markdown from the docstrings that ladies.help shows. pages() gives path
-- -> text: reference.md, the list of contents, and a page for each topic in reference/.

local help = require "ladies.prompt.help"
local kinds = require "ladies.experiment.kinds"
local tables = require "ladies.base.tables"
local topics = require "ladies.command.reference.topics"
local types = require "ladies.command.reference.types"

local PREAMBLE = [[
# Reference

Made by `ladies reference` from the docstrings that `ladies.help` shows; not edited by hand. Ids and
positions are 1-based in Lua. A signature has in brackets what may be left out, or be nil, and in
braces a table of options. An argument that it does not have is an error in functions of the C core
(those in Lua ignore it); an option that it does not have is one everywhere.

What a parameter is stands behind its colon, and what an option is behind `=`, where that is not its
default; `Index[]` is an array of Indexes. Behind the arrow are the results. Where a signature says
no more of them, these names mean the same everywhere:

]]

local SETTINGS = [[
# Settings of an experiment

In Lua the keys of `ladies.experiment.configure`, on the command line options with hyphens
(`--batch-size`). Those of a sampler belong to the methods that stand before the colon.
]]

-- Returns the anchor of a heading, as web sites derive it for Markdown.
local function anchor(heading)
  return (heading:lower():gsub("[^%w_ -]", ""):gsub(" ", "-"))
end

-- Returns a table in Markdown of the parameter names in types.GLOSSARY, with a row for each type.
local function glossary()
  local lines = {"| names | what they are |\n|---|---|"}
  for _, type_text in ipairs(tables.sorted_keys(types.GLOSSARY)) do
    local names = types.GLOSSARY[type_text]:gsub("%S+", "`%0`")
    lines[#lines + 1] = ("| %s | %s |"):format(names, type_text)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function code(text) return ("```\n%s\n```\n"):format(text) end

-- Returns the page of the settings of experiments, with a row for each.
local function settings_page()
  local lines = {SETTINGS, "| setting | of | what it is |\n|---|---|---|"}
  for _, one in ipairs(kinds.settings()) do
    local text = kinds.describe(one):gsub("|", "\\|")
    lines[#lines + 1] = ("| `%s` | %s | %s |"):format(one.name, one.place, text)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function entry_lines(entry, pages)
  local lines = {("### %s\n"):format(entry.name)}
  if entry.same_as then
    lines[2] = ("The same as [`%s`](%s.md#%s).\n"):format(entry.same_as, pages[entry.same_as],
      anchor(entry.same_as))
  else
    lines[2] = code(help.text(entry.value))
  end
  return lines
end

local function class_lines(section)
  local lines, fields = {}, section.class.__fields
  if #fields > 0 then
    local typed = tables.map(fields, function(name)
      local type_text = section.class.__field_types[name]
      return type_text and ("%s: %s"):format(name, type_text:gsub("|", " | ")) or name
    end)
    lines[1] = ("Fields: `%s`\n"):format(table.concat(typed, "`, `"))
  end
  local operators = tables.map(help.operators(section.class), function(one) return one.text end)
  if rawget(section.class, "__close") then
    table.insert(operators, "local x <close>\nEnds with its scope.")
  end
  if #operators > 0 then
    lines[#lines + 1] = ("### Operators of %s\n"):format(section.name)
    lines[#lines + 1] = code(table.concat(operators, "\n\n"))
  end
  return lines
end

local function topic_page(topic, pages)
  local lines = {("# %s\n"):format(topic.title), topic.about .. "\n"}
  for _, section in ipairs(topic.sections) do
    lines[#lines + 1] = ("## %s\n"):format(section.name or "Functions of the library")
    if section.class then tables.append(lines, class_lines(section)) end
    for _, entry in ipairs(section.entries) do tables.append(lines, entry_lines(entry, pages)) end
  end
  return table.concat(lines, "\n")
end

-- Returns a line with links to all entries of a section.
local function section_line(topic, section)
  local links = tables.map(section.entries, function(entry)
    local own = section.name and entry.name:sub(#section.name + 2) or entry.name
    return ("[%s](reference/%s.md#%s)"):format(own, topic.name, anchor(entry.name))
  end)
  local name = section.name and ("`%s`: "):format(section.name) or ""
  return ("* %s%s"):format(name, table.concat(links, ", "))
end

local function contents(list)
  local lines = {PREAMBLE .. glossary(), "## [Settings of an experiment](reference/settings.md)\n",
    "What `ladies train` and the studies take.\n"}
  for _, topic in ipairs(list) do
    lines[#lines + 1] = ("## [%s](reference/%s.md)\n"):format(topic.title, topic.name)
    lines[#lines + 1] = topic.about .. "\n"
    for _, section in ipairs(topic.sections) do
      lines[#lines + 1] = section_line(topic, section)
    end
    lines[#lines + 1] = ""
  end
  return table.concat(lines, "\n")
end

return function()
  local list, pages = topics(), {}
  for _, topic in ipairs(list) do
    for _, section in ipairs(topic.sections) do
      for _, entry in ipairs(section.entries) do
        pages[entry.name] = pages[entry.name] or topic.name
      end
    end
  end
  local files = {["reference.md"] = contents(list), ["reference/settings.md"] = settings_page()}
  for _, topic in ipairs(list) do
    files[("reference/%s.md"):format(topic.name)] = topic_page(topic, pages)
  end
  return files
end

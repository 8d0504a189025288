--- Converts a laboratory to plain data, for JSON, with the same keys for every sampler.

local core = require "ladies_core"
local charts = require "ladies.lab.report.charts"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local tables = require "ladies.base.tables"
local view = require "ladies.lab.report.view"

-- Returns a copy of a table with those of its fields that are named in a text.
local function pick(t, fields)
  local found = {}
  for field in fields:gmatch "%S+" do found[field] = t[field] end
  return found
end

-- Returns such copies of all tables of a list.
local function each(list, fields)
  return json.list(tables.map(list, function(one) return pick(one, fields) end))
end

local function series_of(one)
  local series = pick(one, "key title x_label y_label log_x log_y")
  series.lines = each(one.lines, "name points")
  return series
end

local function fault_of(one)
  local fault = pick(one, "key text proof remedy")
  fault.kind = view.kind(one)
  return fault
end

local function examination_of(one)
  return {
    subject = pick(one.subject, "name title settings_text P_text"),
    settings = pick(one.settings, "groups draws"),
    verdict = one.verdict,
    faults = json.list(tables.map(one.faults, fault_of)),
    notes = json.list(tables.append({}, one.notes)),
    findings = each(one.findings,
      "key section label mean low high n format scale sentence"),
    series = json.list(tables.map(one.series, series_of)),
  }
end

local function intervals_of(by_key)
  local found = {}
  for key, interval in pairs(by_key or {}) do found[key] = pick(interval, "mean low high n") end
  return found
end

local function row_of(row)
  return {name = row.name, values = intervals_of(row.values), ratios = intervals_of(row.ratios)}
end

--- Returns the plain data of a laboratory: {data =, settings =, examinations =, comparison =,
-- pictures = names of files, ladies = the version, machine =}; intervals are {mean =, low =, high
-- =, n =}.
return function(laboratory)
  return {
    data = laboratory.data,
    settings = pick(laboratory.settings,
      "layers hidden steps seed batch_size draws precision seconds"),
    examinations = json.list(tables.map(laboratory.examinations, examination_of)),
    comparison = {equal = laboratory.comparison.equal,
      rows = json.list(tables.map(laboratory.comparison.rows, row_of))},
    pictures = json.list(tables.map(charts.of(laboratory), function(one) return one.name end)),
    ladies = core.version, machine = machine.text(),
  }
end

--- system/platform.c: what the core asks of the system, on Linux and by POSIX alone. (No other file
-- can ask for more than POSIX: the compiler shows it nothing else.) And system/cgroup.c: the limits
-- of control groups, in files as they are found in containers and batch systems.

local lu = require "luaunit"
local files = require "tools.files"
local shell = require "tools.shell"

local source = os.getenv "LADIES_SOURCE"
local build_type = os.getenv "LADIES_BUILD_TYPE"
local sanitize = build_type == "asan" and "-fsanitize=address,undefined" or "-g0"

local tests = {}
local scratch = shell.folder()

local function run(argv, opts)
  return (shell.must(argv, opts):gsub("\n$", ""))
end

-- Compiles the program of tools/platform.c, as strict C11.
local function compile(name, ...)
  local program = scratch.path .. "/" .. name
  run{"cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-D_XOPEN_SOURCE=700", sanitize,
    "-I" .. source .. "/src/core", source .. "/tests/tools/platform.c",
    source .. "/src/core/system/platform.c", source .. "/src/core/system/cgroup.c", "-o", program,
    "-lm", ...}
  return program
end

local linux, posix = compile "linux", compile("posix", "-DLD_POSIX_ONLY")

function tests.test_program_is_found()
  lu.assertEquals(run{linux, "program"}, linux)
  lu.assertEquals(run{posix, "program"}, posix)
  local at_home = {folder = scratch.path}
  lu.assertEquals(run({"./posix", "program"}, at_home), posix)
  local empty = scratch.path .. "/empty"
  run{"mkdir", "-p", empty .. "/posix"}
  at_home.env = {"PATH=:" .. empty .. ":" .. scratch.path}
  lu.assertEquals(run({"posix", "program"}, at_home), posix)
end

-- Linux knows its program whatever it is called; by POSIX there is only the name to go by.
function tests.test_program_under_another_name()
  local function called(name, program)
    return run{"bash", "-c", 'exec -a "$0" "$1" program', name, program}
  end
  for _, name in ipairs{"/nowhere/ladies", "no-such-program", ""} do
    lu.assertEquals(called(name, linux), linux)
    lu.assertEquals(called(name, posix), "none")
  end
end

function tests.test_program_without_room()
  lu.assertEquals(run{posix, "short"}, "none")
  lu.assertEquals(run{linux, "short"}, "none")
end

function tests.test_processors()
  local some = run({"nproc"}, {env = {"OMP_NUM_THREADS="}})
  lu.assertEquals(run{linux, "processors"}, some)
  lu.assertEquals(run{posix, "processors"}, run{"getconf", "_NPROCESSORS_ONLN"})
  lu.assertEquals(run{"taskset", "-c", "0", linux, "processors"}, "1")
end

-- Returns what the program tells of a root in which these files are, {[path] = text}.
local function groups(content)
  local root <close> = shell.folder()
  for path, text in pairs(content) do
    run{"mkdir", "-p", root.path .. path:match "^(.*)/"}
    files.write(root.path .. path, text)
  end
  return run{linux, "groups", root.path}
end

local NONE = "18446744073709551615 inf 9223372036854775807"
local MOUNT2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
local MOUNT1 = "33 31 0:30 %s /sys/fs/cgroup/%s rw - cgroup cgroup rw,%s\n"

--- The least limit of a group and those around it holds.
function tests.test_groups_of_version_2()
  local content = {
    ["/proc/self/cgroup"] = "0::/user/job/step\n",
    ["/proc/self/mountinfo"] = "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" .. MOUNT2,
    ["/sys/fs/cgroup/user/memory.max"] = "8000000000\n",
    ["/sys/fs/cgroup/user/cpuset.cpus.effective"] = "0-63\n",
    ["/sys/fs/cgroup/user/job/memory.max"] = "2000000000\n",
    ["/sys/fs/cgroup/user/job/cpu.max"] = "150000 100000\n",
    ["/sys/fs/cgroup/user/job/step/memory.max"] = "max\n",
    ["/sys/fs/cgroup/user/job/step/cpu.max"] = "max 100000\n",
    ["/sys/fs/cgroup/user/job/step/cpuset.cpus.effective"] = "0-2,8,10-11\n",
    ["/sys/fs/cgroup/other/memory.max"] = "5\n",
  }
  lu.assertEquals(groups(content), "2000000000 1.5 6")
  content["/sys/fs/cgroup/user/job/step/memory.high"] = "1500000000\n"
  content["/sys/fs/cgroup/user/cpu.max"] = "100000 200000\n"
  lu.assertEquals(groups(content), "1500000000 0.5 6")
  content["/proc/self/cgroup"] = "0::/user\n"
  lu.assertEquals(groups(content), "8000000000 0.5 64")
  content["/proc/self/cgroup"] = "0::/\n"
  lu.assertEquals(groups(content), NONE)
  content["/sys/fs/cgroup/memory.max"] = "7\n"                  -- a container's own
  lu.assertEquals(groups(content), "7 inf 9223372036854775807")
  content["/proc/self/cgroup"] = "0::/../other\n"
  lu.assertEquals(groups(content), "7 inf 9223372036854775807")
end

--- Each controller has a hierarchy of its own, which may be mounted from a container's group on.
function tests.test_groups_of_version_1()
  local content = {
    ["/proc/self/cgroup"] = "9:name=systemd:/x\n4:memory:/docker/ab/in\n3:cpuset:/docker/ab\n"
      .. "1:cpu,cpuacct:/job\n0::/\n",
    ["/proc/self/mountinfo"] = MOUNT1:format("/docker/ab", "memory", "memory")
      .. MOUNT1:format("/docker/ab", "cpuset", "cpuset")
      .. MOUNT1:format("/", "cpu,cpuacct", "cpu,cpuacct")
      .. "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    ["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "3000000000\n",
    ["/sys/fs/cgroup/memory/in/memory.limit_in_bytes"] = "9223372036854771712\n",
    ["/sys/fs/cgroup/cpuset/cpuset.effective_cpus"] = "4\n",
    ["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "-1\n",
    ["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000\n",
    ["/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us"] = "320000\n",
    ["/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us"] = "100000\n",
  }
  lu.assertEquals(groups(content), "3000000000 3.2 1")
  content["/sys/fs/cgroup/memory/in/memory.limit_in_bytes"] = "1000000\n"
  lu.assertEquals(groups(content), "1000000 3.2 1")
end

--- A file that is missing or makes no sense sets no limit.
function tests.test_groups_that_say_nothing()
  lu.assertEquals(groups{}, NONE)
  local function check(group, mount, text)
    lu.assertEquals(groups{["/proc/self/cgroup"] = group, ["/proc/self/mountinfo"] = mount,
      ["/sys/fs/cgroup/a/memory.max"] = text, ["/sys/fs/cgroup/a/cpu.max"] = text,
      ["/sys/fs/cgroup/a/cpuset.cpus.effective"] = text}, NONE)
  end
  local path = ("/long"):rep(2000)
  for _, group in ipairs{"", "\n\n", "0:\n", "x", "0::" .. path .. "\n"} do
    check(group, MOUNT2, "1\n")
  end
  for _, mount in ipairs{"", "\n", " - ", " - cgroup2", "1 2 - cgroup2 a b\n",
      MOUNT2:gsub("/ /sys", path .. " /sys"), MOUNT1:format("/", "memory", "memory")} do
    check("0::/a\n", mount, "1\n")
  end
  for _, text in ipairs{"", "\n", "max\n", "none\n", "-1\n"} do check("0::/a", MOUNT2, text) end
end

function tests.test_pages()
  local path = scratch.path .. "/text"
  files.write(path, "hello")
  lu.assertEquals(run{linux, "map", path}, "remap: moved\nfile: _ello\nforgotten: hello")
  lu.assertEquals(run{posix, "map", path}, "remap: none\nfile: _ello\nforgotten: _ello")
  lu.assertEquals(files.read(path), "hello")
end

function tests.test_parent()
  for _, program in ipairs{linux, posix} do
    lu.assertEquals(run{"bash", "-c", '"$0" end $$; "$0" end 1; :', program}, "parent\nanother")
  end
end

return tests

// A control group (cgroup v2) for the processes of one run: the kernel kills all that is in it at one stroke, also what
// forks meanwhile, and whatever user it is of.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// Where this process may make a control group for a run: below its own, if that is delegated to us, or if nobody else
/// manages it. The path of one that has yet to be made, or empty.
[[nodiscard]] std::string control_group_path(std::string_view cookie);

/// Whether the path is one that `control_group_path` gives for this cookie.
[[nodiscard]] bool is_control_group_of(std::string_view path, std::string_view cookie);

/// Leaves the control groups of all runs around this process: for an agent, which outlives them.
void leave_control_groups_of_runs();

class control_group {
public:
    control_group() = default;
    control_group(const control_group&) = delete;
    control_group& operator=(const control_group&) = delete;
    ~control_group();

    /// Makes it, or opens the one that is there. False: there is none to be had.
    bool open(const std::string& path, bool make);
    [[nodiscard]] const std::string& path() const { return path_; }
    /// A descriptor of its folder, or -1: children are cloned into it.
    [[nodiscard]] int folder() const { return folder_; }
    /// Kills everything in it. False if that cannot be done.
    bool kill() const;
    /// Whether there is a process in it. None: not known.
    [[nodiscard]] std::optional<bool> populated() const;
    /// Removes it, and what runs inside of this one have left in it, once it is empty.
    void remove();

private:
    void close();

    std::string path_;
    int folder_ = -1;
    int kill_ = -1;
    int events_ = -1;
};

}  // namespace baton

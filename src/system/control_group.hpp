// A control group (cgroup v2) for the processes of one run: the kernel kills all of them in one call, including
// processes that fork meanwhile and processes of other users.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace baton {

/// The path at which this process may make a control group for a run: below its own group, if that is delegated to this
/// process or not managed by systemd. Empty: no permission.
[[nodiscard]] std::string control_group_path(std::string_view cookie);

/// Whether the path is one that `control_group_path` gives for this cookie.
[[nodiscard]] bool is_control_group_of(std::string_view path, std::string_view cookie);

/// Moves this process out of the control groups of all runs around it: for an agent, which outlives those runs.
void leave_control_groups_of_runs();

class control_group {
public:
    control_group() = default;
    control_group(const control_group&) = delete;
    control_group& operator=(const control_group&) = delete;
    ~control_group();

    /// Makes the group, or opens an existing one. False: failed, or the kernel lacks cgroup.kill.
    bool open(const std::string& path, bool make);
    [[nodiscard]] const std::string& path() const { return path_; }
    /// A descriptor of its folder, or -1. For clone3, which starts a child in the group.
    [[nodiscard]] int folder() const { return folder_; }
    /// Kills all processes in it. Returns whether that succeeded.
    bool kill() const;
    /// Whether there is a process in it. None: unknown.
    [[nodiscard]] std::optional<bool> populated() const;
    /// Removes the group and the groups that nested runs left in it. Groups with processes stay.
    void remove();

private:
    void close();

    std::string path_;
    int folder_ = -1;
    int kill_ = -1;
    int events_ = -1;
};

}  // namespace baton

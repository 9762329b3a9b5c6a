// Reads /proc with descriptors and memory reserved in advance: finding the processes to kill must not fail because this
// process has run out of descriptors. A failure is never reported as "no such process".
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/process_stat.hpp"

namespace baton {

/// The result of reading or signalling one process.
enum class seen : std::uint8_t {
    found,
    gone,    // there is no such process
    hidden,  // no permission: another user's
    failed,  // any other error, usually a lack of descriptors or memory
};

class process_table {
public:
    /// Throws std::system_error.
    process_table();
    process_table(const process_table&) = delete;
    process_table& operator=(const process_table&) = delete;
    ~process_table();

    /// Lists all processes in order of their ids: call begin, then next until it returns none. After a failure the
    /// listing is not complete.
    void begin();
    [[nodiscard]] std::optional<pid_t> next();
    [[nodiscard]] bool failed() const { return failed_; }

    [[nodiscard]] seen read(pid_t process, process_stat& into);
    /// The contents of a file in the process's folder, up to 8 MiB, and the user id of the process.
    [[nodiscard]] seen contents(pid_t process, const char* file, std::string& into, uid_t* owner = nullptr);
    /// Sends a signal to the process if `still_is_it` returns true. A pidfd keeps the id from being reused between the
    /// check and the signal. hidden: not permitted.
    template <typename Check> [[nodiscard]] seen signal(pid_t process, int signal, Check still_is_it) {
        const loan reserve{*this};
        const int handle = open_handle(process);
        if (handle < 0 && handle != no_handles) return result_of(-handle);
        const seen sent = still_is_it() ? send(handle, process, signal) : seen::gone;
        close_handle(handle);
        return sent;
    }

    /// During its life the reserved descriptors are closed, so that their numbers are free for use.
    class loan {
    public:
        explicit loan(process_table& table) : table_{table} { table_.lend(); }
        loan(const loan&) = delete;
        loan& operator=(const loan&) = delete;
        ~loan() { table_.take_back(); }

    private:
        process_table& table_;
    };

private:
    static constexpr int no_handles = -100'000;  // this kernel has no pidfds, or a sandbox forbids them

    [[nodiscard]] static seen result_of(int error);
    [[nodiscard]] static int open_handle(pid_t process);
    [[nodiscard]] static seen send(int handle, pid_t process, int signal);
    static void close_handle(int handle);
    void lend();
    void take_back();

    int folder_ = -1;
    std::array<int, 3> spare_{-1, -1, -1};
    int lent_ = 0;
    std::vector<char> entries_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    bool failed_ = false;
};

}  // namespace baton

#include "recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace baton::history {

recorder::recorder(const std::string& path, std::string who)
    : file_{open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)}, who_{std::move(who)} {
    if (file_ < 0) throw std::runtime_error{"cannot write the history " + path};
}

recorder::~recorder() { close(file_); }

std::uint64_t recorder::asked(const claim_list& claims) {
    const std::uint64_t number = ++numbers_;
    write({.verb = verb::asked, .number = number, .claims = {claims.begin(), claims.end()}});
    return number;
}

void recorder::write(event event) {
    event.who = who_;
    if (event.at == moment{}) event.at = now();
    const std::string line = to_line(event);
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
        throw std::runtime_error{"the history cannot be written"};
}

}  // namespace baton::history

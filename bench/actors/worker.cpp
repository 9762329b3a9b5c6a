#include "bench/actors/worker.hpp"

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <sstream>
#include <vector>

#include "baton/client.hpp"
#include "bench/actors/line_reader.hpp"
#include "claim_spec.hpp"

namespace baton::bench {
namespace {

std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct turn_times {
    std::int64_t asked = 0, acquired = 0, releasing = 0, released = 0;
};

/// Parses NAME or NAME:n/LIMIT.
claims wanted_of(const std::vector<std::string>& names) {
    std::vector<claim> list;
    for (const std::string& name : names)
        list.push_back(name.find('/') == std::string::npos ? claim{name, claim_mode::exclusive, 0, 0}
                                                           : cli::parse_permits(name));
    return claims{std::move(list)};
}

class worker {
public:
    worker(int output, const std::string& url, std::chrono::milliseconds ttl)
        : output_{output}, client_{url, {.ttl = ttl, .label = "bench"}} {
        print("ready baton");
    }

    /// False after the last line.
    bool obey(const std::string& line) {
        std::istringstream words{line};
        std::string verb;
        words >> verb;
        if (verb == "acquire")
            acquire({std::istream_iterator<std::string>{words}, {}});
        else if (verb == "release")
            release();
        else if (verb == "cycle")
            cycle(words);
        else if (verb == "report")
            report();
        else if (verb == "quit")
            return false;
        else
            print("unknown " + line);
        return true;
    }

private:
    void acquire(const std::vector<std::string>& names) {
        current_.asked = now();
        std::error_code error;
        lease_ = client_.acquire(wanted_of(names), {}, error);
        current_.acquired = now();
        print(error ? "failed " + error.message() : "acquired " + std::to_string(current_.acquired));
    }
    void release() {
        end_turn();
        print("released " + std::to_string(current_.releasing) + " " + std::to_string(current_.released));
    }
    void end_turn() {
        current_.releasing = now();
        lease_.release();
        current_.released = now();
        turns_.push_back(current_);
    }
    void cycle(std::istringstream& words) {
        std::string name;
        double seconds = 0;
        std::int64_t hold_us = 0;
        words >> name >> seconds >> hold_us;
        const claims wanted = wanted_of({name});
        const std::int64_t end = now() + static_cast<std::int64_t>(seconds * 1e9);
        std::uint64_t count = 0;
        while (now() < end) {
            current_.asked = now();
            lease_ = client_.acquire(wanted);
            current_.acquired = now();
            if (hold_us > 0) {
                const timespec hold{hold_us / 1'000'000, (hold_us % 1'000'000) * 1'000};
                clock_nanosleep(CLOCK_MONOTONIC, 0, &hold, nullptr);
            }
            end_turn();
            ++count;
        }
        print("cycled " + std::to_string(count));
    }
    void report() {
        std::string text;
        for (const turn_times& turn : turns_)
            text += std::to_string(turn.asked) + " " + std::to_string(turn.acquired) + " " +
                    std::to_string(turn.releasing) + " " + std::to_string(turn.released) + "\n";
        turns_.clear();
        print(text + "end");
    }
    void print(std::string text) const {
        text += '\n';
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t written = write(output_, text.data() + done, text.size() - done);
            if (written <= 0) return;
            done += static_cast<std::size_t>(written);
        }
    }

    int output_;
    client client_;
    lease lease_;
    turn_times current_;
    std::vector<turn_times> turns_;
};

}  // namespace

int obey(int input, int output, const std::string& url, std::chrono::milliseconds ttl) {
    worker worker{output, url, ttl};
    line_reader lines{input};
    while (const auto line = lines.next())
        if (!worker.obey(*line)) break;
    return 0;
}

}  // namespace baton::bench

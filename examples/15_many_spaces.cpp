// A space is on one server, also in a cluster. A program with more locks than one server can serve spreads them over
// several spaces: each name belongs to one of them, in every program by the same rule. Names of two spaces cannot be
// requested together.
#include <baton/baton.hpp>

#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace {

class many_spaces {
public:
    /// `url` is the address without a space, as in redis+cluster://node1,node2. The hash slots of locks-0 to locks-15
    /// are spread over three equal primaries like 5 : 5 : 6.
    explicit many_spaces(const std::string& url) {
        const std::string option = url.starts_with("memory:")           ? ""
                                   : url.find('?') == std::string::npos ? "?space="
                                                                        : "&space=";
        for (int i = 0; i < 16; ++i) clients_.emplace_back(url + option + "locks-" + std::to_string(i));
    }
    [[nodiscard]] std::size_t size() const { return clients_.size(); }

    /// The client of the space that the name belongs to.
    baton::client& of(const std::string& name) {
        auto client = clients_.begin();
        std::advance(client, hash(name) % size());
        return *client;
    }

private:
    /// FNV-1a: unlike std::hash, it is the same in every program.
    static std::uint32_t hash(const std::string& name) {
        std::uint32_t hash = 2'166'136'261;
        for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 16'777'619;
        return hash;
    }

    std::list<baton::client> clients_;
};

}  // namespace

int main() {
    constexpr int orders = 4'000;
    const char* const url = std::getenv("BATON_URL");
    many_spaces spaces{url != nullptr ? url : "memory:"};

    std::mutex mutex;
    std::condition_variable done;
    int locked = 0;
    int ended = 0;
    for (int i = 0; i < orders; ++i) {
        const std::string order = "order/" + std::to_string(i);
        spaces.of(order).async_acquire(baton::exclusive(order), {}, [&](std::error_code error, baton::lease lease) {
            lease.release();
            const std::lock_guard lock{mutex};
            if (!error) ++locked;
            if (++ended == orders) done.notify_one();
        });
    }
    std::unique_lock lock{mutex};
    done.wait(lock, [&] { return ended == orders; });
    std::cout << locked << " orders were locked, in " << spaces.size() << " spaces\n";
}

// Output:
// 4000 orders were locked, in 16 spaces

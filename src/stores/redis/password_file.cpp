#include "stores/redis/password_file.hpp"

#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/error.hpp"

namespace baton::detail {
namespace {

constexpr std::size_t longest_secret = 4'096;

struct secret {
    std::string password;
    std::string why;
};

}  // namespace

std::string read_password_file(const std::string& path, std::string& why) {
    std::ifstream file{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (!file) {
        why = "the file that BATON_REDIS_PASSWORD_FILE names cannot be read";
        return {};
    }
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (!text.empty() && text.size() <= longest_secret) return text;
    why = "the file that BATON_REDIS_PASSWORD_FILE names holds no password, or far too much";
    return {};
}

void refresh_password(event_loop& loop, redis_address& address, std::function<void(const store_error&)> done) {
    if (address.password_file.empty()) return done({});
    run_slow_work(
        process_wide<slow_threads>(),
        [path = address.password_file] {
            const auto read = std::make_shared<secret>();
            read->password = read_password_file(path, read->why);
            return read;
        },
        [kept = loop.shared_from_this(), &address, done = std::move(done)](const std::shared_ptr<secret>& read) {
            kept->post([read, &address, done] {
                if (!read->why.empty()) return done({errc::not_permitted, read->why});
                address.password = read->password;
                done({});
            });
        });
}

}  // namespace baton::detail

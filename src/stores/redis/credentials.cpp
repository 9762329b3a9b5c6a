#include "stores/redis/credentials.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

#include "base/process_wide.hpp"
#include "base/slow_work.hpp"
#include "baton/error.hpp"
#include "stores/redis/url_text.hpp"
#include "stores/tls/tls_client.hpp"

namespace baton::detail {
namespace {

constexpr std::size_t longest_secret = 4'096;

struct credentials {
    std::string password;
    store_error error;
    std::shared_ptr<resp::encryption> encryption;
};

}  // namespace

std::string read_password_file(const std::string& path, const std::string& variable, std::string& why) {
    errno = 0;
    std::ifstream file{path, std::ios::binary};
    const int cause = errno != 0 ? errno : EISDIR;  // a folder can be opened, and not read
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (!file) {
        why =
            "cannot read " + quoted(path) + ", which " + variable + " names: " + std::generic_category().message(cause);
        return {};
    }
    while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
    if (!text.empty() && text.size() <= longest_secret) return text;
    why = quoted(path) + ", which " + variable + " names, holds no password, or far too much";
    return {};
}

void load_credentials(event_loop& loop, redis_address& address, credentials_result done) {
    if (address.password_file.empty() && !address.tls.enabled) return done({}, nullptr);
    auto kept = loop.kept();
    if (!kept) return;
    run_slow_work(
        process_wide<slow_threads>(),
        [file = address.password_file,
         variable = address.is_sentinel ? "BATON_SENTINEL_PASSWORD_FILE" : "BATON_REDIS_PASSWORD_FILE",
         tls = address.tls, host = address.host] {
            const auto loaded = std::make_shared<credentials>();
            std::string why;
            if (!file.empty()) loaded->password = read_password_file(file, variable, why);
            if (!why.empty()) {
                loaded->error = {errc::not_permitted, why, {}, true};
            } else if (tls.enabled) {
                tls_client client = make_tls_client(tls, host);
                loaded->error = client.error;
                loaded->encryption = std::move(client.encryption);
            }
            return loaded;
        },
        [kept = std::move(kept), &address, done = std::move(done)](const std::shared_ptr<credentials>& loaded) {
            kept->post([loaded, &address, done] {
                if (!loaded->error.code && !address.password_file.empty()) address.password = loaded->password;
                done(loaded->error, std::move(loaded->encryption));
            });
        });
}

}  // namespace baton::detail

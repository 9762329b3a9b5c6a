#include "dialect.hpp"

#include "stores/redis/url_text.hpp"

namespace baton::dialects {

std::shared_ptr<const dialect> make_dialect(const std::string& name, const options& options) {
    if (name == "amphp") return make_amphp(options);
    if (name == "redturn") return make_redturn(options);
    if (name == "adv-sem") return make_adv_sem(options);
    detail::refuse("no dialect is called " + detail::quoted(name) + "; there are amphp, redturn and adv-sem");
}

std::string one_exclusive_name(const std::string& dialect, std::span<const claim> claims,
                               const protocol::enter_options& options) {
    const std::string here = "the dialect " + dialect;
    if (claims.size() != 1) return here + " locks one name at a time; several at once need the native protocol";
    if (claims.front().mode != claim_mode::exclusive)
        return here + " has exclusive locks only; shared ones and permits need the native protocol";
    if (options.queue_bound) return here + " cannot bound its queue; give a wait instead";
    return {};
}

}  // namespace baton::dialects

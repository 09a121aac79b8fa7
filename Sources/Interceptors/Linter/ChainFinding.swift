/// A fault in the order or the settings of a chain: see ``InterceptorChain/findings``.
///
/// ```swift
/// #expect(api.chain.findings.isEmpty)
/// ```
public struct ChainFinding: Sendable, Hashable {
    /// How bad a finding is.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// The chain can't work as written, or leaks a secret.
        case broken
        /// The chain probably doesn't do what its author expects.
        case doubtful
        /// A fact worth knowing, which is often intended.
        case note
    }

    /// The rule that the chain breaks.
    public let rule: ChainRule
    /// How bad the finding is.
    public let severity: Severity
    /// The names of the elements concerned, outermost first.
    public let elements: [String]
    /// A sentence that names the fault: `cookies (1) is outside followRedirects (2).`
    public let message: String
    /// An example of what goes wrong.
    public let harm: String
    /// The right order or setting as code: `[.followRedirects(…), .cookies(…)]`.
    public let remedy: String
}

extension ChainFinding: CustomStringConvertible {
    /// The severity, the fault, its harm and the remedy, in one line.
    public var description: String {
        "\(severity.rawValue): \(message) \(harm) Write \(remedy). (\(rule))"
    }
}

/// Names a rule about the order of a chain. The article *Checking a chain*, in the documentation of `InterceptorsMiddlewares`, shows each
/// rule's harm and the right order.
public struct ChainRule: OpenSet {
    /// The rule's name.
    public let rawValue: String

    /// Creates a rule from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// Rules about identity.
extension ChainRule {
    /// An element that adds a credential is outside the one that renews this credential.
    public static let credentialOutsideRenewal = Self(rawValue: "credentialOutsideRenewal")
    /// Nothing inside an element that renews a credential adds the renewed one.
    public static let renewalWithoutCredential = Self(rawValue: "renewalWithoutCredential")
    /// An element adds a credential to requests that have one already, or that get another one further inside.
    public static let credentialNeverSent = Self(rawValue: "credentialNeverSent")
    /// An element that adds a credential is inside one that shares responses.
    public static let credentialInsideSharing = Self(rawValue: "credentialInsideSharing")
    /// A cookie jar is outside the element that follows redirects.
    public static let cookiesOutsideRedirects = Self(rawValue: "cookiesOutsideRedirects")
    /// A credential goes to another host after a redirect.
    public static let credentialSentToOtherHost = Self(rawValue: "credentialSentToOtherHost")
    /// An element that adds a credential is outside the one that follows redirects.
    public static let credentialOutsideRedirects = Self(rawValue: "credentialOutsideRedirects")
    /// A signature, which is different each time, is added outside an element that shares responses.
    public static let signatureOutsideSharing = Self(rawValue: "signatureOutsideSharing")
    /// The content of a request changes after it was signed.
    public static let contentChangedAfterSigning = Self(rawValue: "contentChangedAfterSigning")
    /// Fields are added to a request after it was signed.
    public static let fieldsChangedAfterSigning = Self(rawValue: "fieldsChangedAfterSigning")
    /// A request is sent again, or to another URL, with the signature of the first time.
    public static let resentWithOldSignature = Self(rawValue: "resentWithOldSignature")
    /// A retry repeats a 401 before the credential is renewed.
    public static let rejectedTokenRetried = Self(rawValue: "rejectedTokenRetried")
    /// A log shows a field that carries a credential.
    public static let secretInLog = Self(rawValue: "secretInLog")
}

/// Rules about repeated exchanges, limits and time.
extension ChainRule {
    /// A retry is inside a retry.
    public static let retryInsideRetry = Self(rawValue: "retryInsideRetry")
    /// A circuit breaker is outside a retry.
    public static let breakerOutsideRetry = Self(rawValue: "breakerOutsideRetry")
    /// A limit is outside a retry.
    public static let limitOutsideRetry = Self(rawValue: "limitOutsideRetry")
    /// The attempts of one call open a circuit.
    public static let breakerOpenedByOneCall = Self(rawValue: "breakerOpenedByOneCall")
    /// A hedge is inside a hedge.
    public static let hedgeInsideHedge = Self(rawValue: "hedgeInsideHedge")
    /// A hedge is outside a retry.
    public static let hedgeOutsideRetry = Self(rawValue: "hedgeOutsideRetry")
    /// A limit is outside a hedge.
    public static let limitOutsideHedge = Self(rawValue: "limitOutsideHedge")
    /// A limit is outside a cache.
    public static let limitOutsideCache = Self(rawValue: "limitOutsideCache")
    /// A limit is outside an element whose callers share one exchange.
    public static let limitOutsideCoalescing = Self(rawValue: "limitOutsideCoalescing")
    /// A limit on concurrent requests is outside the renewal of a credential.
    public static let permitHeldDuringRenewal = Self(rawValue: "permitHeldDuringRenewal")
    /// A timeout can never act, because an outer one is as short or shorter.
    public static let timeoutNeverActs = Self(rawValue: "timeoutNeverActs")
}

/// Rules about responses, logs and settings.
extension ChainRule {
    /// A status becomes an error before an element that must see it.
    public static let statusJudgedTooEarly = Self(rawValue: "statusJudgedTooEarly")
    /// A response becomes an error before a cookie jar stores its cookies.
    public static let cookiesLostInError = Self(rawValue: "cookiesLostInError")
    /// A status becomes an error inside a cache.
    public static let statusJudgedInsideCache = Self(rawValue: "statusJudgedInsideCache")
    /// The content of a response changes inside a cache.
    public static let contentChangedInsideCache = Self(rawValue: "contentChangedInsideCache")
    /// Two elements take the envelope off the same responses.
    public static let unwrappedTwice = Self(rawValue: "unwrappedTwice")
    /// A cache is inside a cache.
    public static let cacheInsideCache = Self(rawValue: "cacheInsideCache")
    /// A cache is outside the element that follows redirects.
    public static let cacheOutsideRedirects = Self(rawValue: "cacheOutsideRedirects")
    /// Two loggers show the same exchanges.
    public static let loggedTwice = Self(rawValue: "loggedTwice")
    /// The log doesn't show the attempts.
    public static let attemptsNotLogged = Self(rawValue: "attemptsNotLogged")
    /// Nothing follows redirects.
    public static let redirectsNotFollowed = Self(rawValue: "redirectsNotFollowed")
    /// An element does nothing with its settings.
    public static let noEffect = Self(rawValue: "noEffect")
    /// An element is not where its ``PlacedInterceptor/placement`` wishes it.
    public static let placement = Self(rawValue: "placement")
    /// A request asks for something that no element does, such as a `cacheMode` without a cache. Debug builds report this once
    /// per client; it is never among ``InterceptorChain/findings``, because it depends on the request.
    public static let wishNotGranted = Self(rawValue: "wishNotGranted")
}

extension Interceptor {
    /// Silences one rule for this element, or for all elements of a `.group` or `.when`, with a reason.
    ///
    /// ```swift
    /// let interceptors: [any Interceptor] = [
    ///     .cache(.memory()),
    ///     .cache(.disk(at: caches)).acknowledged(.cacheInsideCache, "memory in front of the disk"),
    /// ]
    /// ```
    /// The chain's ``InterceptorChain/description`` shows the reason. At run time the element is the same as without it.
    ///
    /// - Parameters:
    ///   - rule: the rule that the chain breaks on purpose.
    ///   - reason: the reason, for the next reader.
    public func acknowledged(_ rule: ChainRule, _ reason: String) -> AnyInterceptor {
        AnyInterceptor(self, acknowledging: rule.rawValue, because: reason)
    }
}

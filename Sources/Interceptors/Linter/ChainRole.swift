/// A role of an element of a chain, or a wish for its position: a part of a ``PlacedInterceptor/placement``.
///
/// Some roles imply others: an element that retries resends, and one that stores responses shares them.
public struct ChainRole: Sendable {
    let name: String
    /// The name, unless an author made the role: such a role never equals one of this package.
    let id: String
    /// Whether a chain's description shows the role; it shows no wishes and settings.
    let isShown: Bool
    /// Adds the role's details to the placement that declares it.
    private(set) var describe: @Sendable (inout Placement) -> Void = { _ in }

    /// A role that no rule of this package knows, for the wishes of other interceptors: `ChainRole("paginates")`.
    public init(_ name: String) { self.init(id: "author's " + name, name: name) }

    private init(id: String, name: String? = nil, isShown: Bool = true) {
        (self.id, self.name, self.isShown) = (id, name ?? id, isShown)
    }

    /// A role that only describes an element.
    private static let setting = Self(id: "setting", isShown: false)

    /// This role, with further details about the element that declares it.
    package func with(_ details: @escaping @Sendable (inout Placement) -> Void) -> Self {
        var role = self
        role.describe = { [describe] placement in
            describe(&placement)
            details(&placement)
        }
        return role
    }

    /// The roles that a role implies.
    static let implied: [String: String] = [
        "retries": "resends", "hedges": "resends", "followsRedirects": "resends", "stores": "shares",
        "renewsCredentials": "resends", "answersChallenges": "resends", "retriesUnauthorized": "retries",
        "keepsCookies": "addsCredentials", "addsCredentials": "identifiesCaller", "validatesByClosure": "validates",
        "addsFieldsEverywhere": "identifiesCaller", "addsAuthorizationEverywhere": "addsFieldsEverywhere",
        "forcesAuthorization": "addsAuthorizationEverywhere", "unwraps": "changesResponse",
        "identifiesCaller": "changesRequest", "compresses": "changesRequest", "limitsRate": "limits",
        "limitsConcurrency": "limits", "breaksCircuit": "limits",
    ]
}

/// Wishes.
///
/// A wish is a role too: `.inside(.outside(.signs))` is for an element that belongs inside every element that itself has the wish
/// `.outside(.signs)`.
extension ChainRole {
    /// The element belongs inside every element with this role.
    ///
    /// - Parameters:
    ///   - role: the role of the other elements.
    ///   - reason: a sentence with the harm of the other order, for the ``ChainFinding``.
    public static func inside(_ role: ChainRole, because reason: String? = nil) -> Self {
        wish("inside", role, reason)
    }

    /// The element belongs outside every element with this role.
    ///
    /// - Parameters:
    ///   - role: the role of the other elements.
    ///   - reason: a sentence with the harm of the other order, for the ``ChainFinding``.
    public static func outside(_ role: ChainRole, because reason: String? = nil) -> Self {
        wish("outside", role, reason)
    }

    private static func wish(_ side: String, _ role: Self, _ reason: String?) -> Self {
        Self(id: "\(side)(\(role.id))", name: "\(side)(\(role.name))", isShown: false).with {
            $0.wishes.append((side == "inside", role, reason))
        }
    }
}

/// Identity.
extension ChainRole {
    /// Adds a credential, to requests for the credential's own servers only; implies ``identifiesCaller``.
    public static let addsCredentials = Self(id: "addsCredentials")
    /// Adds what tells users apart, such as a signature with a user's key; implies ``changesRequest``.
    public static let identifiesCaller = Self(id: "identifiesCaller")
    /// Sends cookies and stores those that responses set; implies ``addsCredentials``.
    public static let keepsCookies = Self(id: "keepsCookies")
    /// Renews a rejected credential and runs the rest of the chain again; implies ``resends``.
    public static let renewsCredentials = Self(id: "renewsCredentials")
    /// Answers a server's challenge by running the rest of the chain again; implies ``resends``.
    public static let answersChallenges = Self(id: "answersChallenges")
    /// Names the account of a request as its partition (``InterceptorsTransport/HTTPContext/cachePartition``).
    public static let namesPartition = Self(id: "namesPartition")
    /// Signs a request.
    public static let signs = Self(id: "signs")

    /// Adds a credential in fields with these names, to requests for the credential's own servers only.
    public static func addsCredentials(in names: HTTPField.Name...) -> Self {
        addsCredentials.with { $0.secretFields += names }
    }
}

/// Repeated and shared exchanges.
extension ChainRole {
    /// May run the rest of the chain more than once.
    public static let resends = Self(id: "resends")
    /// Sends a failed request again; implies ``resends``.
    public static let retries = Self(id: "retries")
    /// Sends a late request a second time; implies ``resends``.
    public static let hedges = Self(id: "hedges")
    /// Follows redirects; implies ``resends``.
    public static let followsRedirects = Self(id: "followsRedirects")
    /// May answer several requests with one response.
    public static let shares = Self(id: "shares")
    /// Keeps responses for later requests; implies ``shares``.
    public static let stores = Self(id: "stores")
    /// Ends a call when a newer one with the same ``InterceptorsTransport/HTTPContext`` key begins.
    public static let supersedes = Self(id: "supersedes")
}

/// Limits and time.
extension ChainRole {
    /// Refuses or delays requests.
    public static let limits = Self(id: "limits")
    /// Limits how many requests are sent in a period; implies ``limits``.
    public static let limitsRate = Self(id: "limitsRate")
    /// Limits how many requests run at a time; implies ``limits``.
    public static let limitsConcurrency = Self(id: "limitsConcurrency")
    /// Refuses requests to a failing host; implies ``limits``.
    public static let breaksCircuit = Self(id: "breaksCircuit")
    /// Lets requests wait before it passes them on.
    public static let waits = Self(id: "waits")
    /// Ends a call that takes too long.
    public static let setsDeadline = Self(id: "setsDeadline")
}

/// Messages.
extension ChainRole {
    /// Adds or changes fields, the URL or the content of a request.
    public static let changesRequest = Self(id: "changesRequest")
    /// Compresses the content of a request; implies ``changesRequest``.
    public static let compresses = Self(id: "compresses")
    /// Changes the content of a response, as an interceptor does that unwraps or decompresses it.
    public static let changesResponse = Self(id: "changesResponse")
    /// Turns responses into errors by their status.
    public static let validates = Self(id: "validates")
    /// Acts on responses whose status isn't 2xx, and can't if they arrive as errors.
    public static let readsStatus = Self(id: "readsStatus")
    /// Writes exchanges to a log.
    public static let logs = Self(id: "logs")
    /// Reports exchanges to a tracing or metrics system.
    public static let measures = Self(id: "measures")
}

/// Contracts that no rule about the order of a chain uses, but the checks of single interceptors do (`InterceptorConformance`).
extension ChainRole {
    /// Reads the whole content of a streamed response before it returns the response, as an interceptor does that unwraps an
    /// envelope.
    public static let buffers = Self("buffers")
    /// May answer a request by itself, without the rest of the chain.
    public static let answers = Self("answers")
    /// Lets requests that wait for the same server go on in the order in which they came. Nothing else promises an order: not
    /// ``waits``, ``limitsRate`` or ``limitsConcurrency``.
    public static let keepsOrder = Self("keepsOrder")
}

/// Roles that only this package's interceptors declare.
extension ChainRole {
    /// Keeps exchanges as files.
    package static let records = Self(id: "records")

    /// Retries a 401; implies ``retries``.
    package static let retriesUnauthorized = Self(id: "retriesUnauthorized")

    /// Turns responses into errors as a closure decides; implies ``validates``.
    package static let validatesByClosure = Self(id: "validatesByClosure")

    /// This role, for these statuses only; `nil` for any. 0 stands for a failed connection.
    package func only(_ statuses: Set<Int>?) -> Self { with { $0.statuses = statuses } }

    /// Adds fields with a credential to all requests, even to those for other servers; implies ``identifiesCaller``.
    package static let addsFieldsEverywhere = Self(id: "addsFieldsEverywhere")
    /// Adds `Authorization` to all requests that have none; implies ``addsFieldsEverywhere``.
    package static let addsAuthorizationEverywhere = Self(id: "addsAuthorizationEverywhere")
    /// Replaces the `Authorization` of all requests; implies ``addsAuthorizationEverywhere``.
    package static let forcesAuthorization = Self(id: "forcesAuthorization")
    /// Replaces an envelope by its payload; implies ``changesResponse``.
    package static let unwraps = Self(id: "unwraps")
    /// Adds a value that differs for each request, such as a signature.
    package static let changesEachTime = Self(id: "changesEachTime")
    /// Calls a closure that may add a credential.
    package static let mayAddCredentials = Self(id: "mayAddCredentials")
    /// Waits for a renewal of the credential that it adds.
    package static let awaitsRenewal = Self(id: "awaitsRenewal")

    /// This role, for the credential of an object such as a store of tokens.
    ///
    /// - Parameters:
    ///   - object: the object that the credential comes from.
    ///   - origins: the only origins that the credential is for; `nil` if they depend on the client.
    ///   - isConstant: whether each request to these origins gets the credential.
    package func of(_ object: AnyObject, for origins: Set<Origin>? = nil, isConstant: Bool = false) -> Self {
        let subject = ObjectIdentifier(object)
        return with { ($0.subject, $0.origins, $0.isConstant) = (subject, origins, isConstant) }
    }

    /// The element does nothing with its present settings.
    package static func idle(_ reason: String, remedy: String) -> Self {
        setting.with { $0.idleness = (reason, remedy) }
    }

    /// The element's name in code.
    package static func spelled(_ name: String) -> Self { setting.with { $0.spelling = name } }

    /// The element's settings in code, if they are short: the `3` of `.retry(maxAttempts: 3)`.
    package static func set(_ arguments: String) -> Self { setting.with { $0.settings = arguments } }
}

extension ChainRole: CustomStringConvertible {
    /// The role's name, such as `retries`, or a wish such as `inside(retries)`.
    public var description: String { name }
}

extension Duration {
    /// The duration as an array of interceptors contains it: `.seconds(30)`.
    package var code: String {
        let (seconds, attoseconds) = components
        return attoseconds == 0 ? ".seconds(\(seconds))" : ".seconds(\(self / .seconds(1)))"
    }
}

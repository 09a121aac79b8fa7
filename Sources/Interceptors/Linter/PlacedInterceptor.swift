/// An interceptor that declares its place in a chain, so that ``InterceptorChain/findings`` can judge the order.
///
/// The rules relate roles, not types. Your interceptor takes part as soon as it declares its roles:
///
/// ```swift
/// extension AppVersion: PlacedInterceptor {
///     var placement: Placement { [.changesRequest] }
/// }
/// ```
/// An interceptor without a placement, such as a closure, is not judged, and the chain's ``InterceptorChain/description`` says
/// so.
public protocol PlacedInterceptor: Interceptor {
    /// The roles of this interceptor, which may depend on its settings, and its wishes for its place.
    var placement: Placement { get }
}

/// The roles of an interceptor, and its wishes for its place: `[.addsCredentials, .inside(.followsRedirects)]`.
public struct Placement: Sendable, ExpressibleByArrayLiteral {
    /// A place relative to all elements with a role.
    struct Wish: Sendable {
        let isInside: Bool
        let role: ChainRole
        let reason: String?
    }

    /// A setting that makes an element do nothing.
    struct Idleness: Sendable {
        let reason: String
        let remedy: String
    }

    /// The ids of the declared and implied roles.
    private(set) var roles: Set<String> = []
    /// The names of the declared roles, in their order.
    private(set) var declared: [String] = []
    private(set) var wishes: [Wish] = []
    /// The object that a credential comes from.
    private(set) var subject: ObjectIdentifier?
    /// The only origins that the credential is for, as far as known.
    private(set) var origins: Set<Origin>?
    /// Whether each request to these origins gets the credential.
    private(set) var isConstant = false
    /// The limit of an element that sets a deadline.
    private(set) var limit: Duration?
    /// Whether `limit` was declared; without a limit, the element enforces the deadlines of requests.
    private(set) var knowsLimit = false
    private(set) var idleness: Idleness?
    /// The fields that carry the element's credentials.
    private(set) var secretFields: [HTTPField.Name] = []
    /// Decides which values an element that logs hides, or which fields a redirect removes.
    private(set) var redaction: Redaction?
    /// The statuses that a role is about, by the role's id.
    private var statuses: [String: Set<Int>] = [:]
    /// The numbers that a role is about, by the role's id.
    private var counts: [String: Int] = [:]
    /// The element's name in code, if its type's name doesn't tell.
    private(set) var spelling: String?
    /// The element's settings in code; `nil` if they are unknown or long.
    private(set) var settings: String?

    /// Creates a placement from roles and wishes.
    public init(arrayLiteral roles: ChainRole...) { self.init(roles) }

    /// Creates a placement from roles and wishes, for roles that depend on settings.
    public init(_ roles: [ChainRole]) {
        for role in roles { add(role) }
    }

    func has(_ role: ChainRole) -> Bool { roles.contains(role.id) }

    /// The statuses that a role is about; `nil` if it may be about any.
    func statuses(of role: ChainRole) -> Set<Int>? { statuses[role.id] }

    /// The number that a role is about; `nil` if it is unknown.
    func count(of role: ChainRole) -> Int? { counts[role.id] }

    private mutating func add(_ role: ChainRole) {
        switch role.detail {
        case .wish(let other, let isInside, let reason):
            wishes.append(Wish(isInside: isInside, role: other, reason: reason))
            // Elements may wish to be outside or inside those with this wish.
            return insert(role.id)
        case .spelling: return spelling = role.name
        case .settings: return settings = role.name
        case .idleness(let remedy): return idleness = Idleness(reason: role.name, remedy: remedy)
        case .none: break
        case .subject(let id, let origins, let isConstant):
            (subject, self.origins, self.isConstant) = (id, origins, isConstant)
        case .limit(let duration): (limit, knowsLimit) = (duration, true)
        case .fields(let names): secretFields += names
        case .redaction(let redaction): self.redaction = redaction
        case .statuses(let codes): statuses[role.id] = codes
        case .count(let count): counts[role.id] = count
        }
        if !declared.contains(role.name) { declared.append(role.name) }
        insert(role.id)
    }

    private mutating func insert(_ id: String) {
        guard roles.insert(id).inserted else { return }
        for implied in ChainRole.implied[id] ?? [] { insert(implied) }
    }
}

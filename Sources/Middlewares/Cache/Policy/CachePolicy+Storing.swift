internal import Foundation
internal import HTTPSyntax
internal import Interceptors

extension CachePolicy {
    /// Why a request forbids storing its response (RFC 9111 §3); `nil` if it doesn't.
    private static func refusal(to request: HTTPRequest) -> CacheOutcome.Storing? {
        guard request.method == .get else { return .method }
        guard request.body.isEmpty, request.context.cacheMode != .doNotStore, !forbidsStoring(request.headerFields)
        else { return .request }
        return nil
    }

    /// Why a response forbids being stored, whatever the request (RFC 9111 §3); `nil` if it doesn't.
    private static func refusal(of status: HTTPResponse.Status, _ facts: ResponseFacts) -> CacheOutcome.Storing? {
        switch status.code {
        case 206: return .partial
        // These responses are about the credentials, a condition or a range of this request, not about the resource.
        case ..<200, 304, 401, 407, 412, 416: return .status
        default: break
        }
        let directives = facts.directives
        // §5.2.2.3: with `must-understand`, a response whose status is understood may be stored in spite of `no-store`.
        if directives.mustUnderstand && !isUnderstood(status) { return .notUnderstood }
        if directives.noStore && !directives.mustUnderstand { return .noStore }
        if facts.selectors == nil { return .vary }
        let isAllowed =
            isHeuristicallyCacheable(status) || directives.isPublic || directives.isPrivate
            || directives.maxAge.isPresent || facts.hasExpiry
        return isAllowed ? nil : .status
    }

    private static func forbidsStoring(_ request: HTTPFields) -> Bool {
        request.contains(.cacheControl) && CacheControl(request).noStore
    }

    /// Decides whether to store a response, and which entries it replaces or removes.
    private func decision(
        about response: HTTPResponse,
        to request: HTTPRequest,
        _ timing: Timing,
        replacing outdated: [Int],
        orRemoving removed: [Int]
    ) -> StorageDecision {
        if let refusal = Self.refusal(to: request) { return .pass(refusal, removing: removed) }
        let kept = KeptFields(response.headerFields, timing)
        if let refusal = Self.refusal(of: response.status, kept.facts) { return .pass(refusal, removing: removed) }
        let stored = stored(response, kept, to: request, timing)
        if Self.isPassing(response.status), !isOfUse(stored) { return .pass(.status, removing: removed) }
        return .store(stored, replacing: outdated)
    }

    // Whether a status is an error that says nothing about the resource, unlike 404 and 410.
    private static func isPassing(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 400 && status != 404 && status != 410
    }

    // An error that needs validation at every use would serve no request. It would also replace a response that can be served
    // when the server can't be reached (§4.3.3). Error pages often have `no-cache`.
    private func isOfUse(_ stored: CachedResponse) -> Bool {
        stored.facts.directives.noCache != .whole && freshness(of: stored, now: stored.responseTime).isFresh
    }

    /// The fields to store, parsed once for the decision and for the stored response. Fields that limit the use of a response
    /// are stored even if `Connection` names them.
    private struct KeptFields {
        let fields: HTTPFields
        let facts: ResponseFacts
        /// The date in the server's `Date` field.
        let date: Int64?
        /// The value of `Age`, which is stored as a number.
        let age: Int64

        init(_ received: HTTPFields, _ timing: Timing) {
            let present = ResponseFieldSet(received)
            let isWhole = !present.contains(.dropped)
            fields = isWhole ? received : CachePolicy.kept(received)
            let arrival = timing.wallTime
            facts = ResponseFacts(fields, now: arrival, arrival: arrival, present: isWhole ? present : nil)
            date = facts.date ?? (isWhole ? nil : CachePolicy.date(received, .date, now: arrival))
            age = present.contains(.age) ? DeltaSeconds.age(in: received) ?? 0 : 0
        }
    }

    /// The response to store.
    func stored(_ response: HTTPResponse, to request: HTTPRequest, timing: Timing) -> CachedResponse {
        stored(response, KeptFields(response.headerFields, timing), to: request, timing)
    }

    private func stored(
        _ response: HTTPResponse,
        _ kept: KeptFields,
        to request: HTTPRequest,
        _ timing: Timing
    ) -> CachedResponse {
        var (fields, facts) = (kept.fields, kept.facts)
        // RFC 9110 §6.6.1: without a valid date, a response gets the date of its arrival.
        if facts.date == nil {
            let date = HTTPDate.format(timing.wallTime)
            if fields.contains(.date) {
                fields[.date] = date
            } else {
                fields.append(HTTPField(name: .date, trimmed: date, hasControl: false))
            }
        }
        return CachedResponse(
            status: response.status,
            headerFields: fields,
            selectingFields: selectingFields(request.headerFields, facts.selectors),
            initialAge: Self.initialAge(date: kept.date, age: kept.age, timing: timing),
            responseTime: timing.responseTime
        ).parse(facts)
    }

    /// The fields to store: without fields for one connection or a proxy, and without `Age`.
    static func kept(_ fields: HTTPFields) -> HTTPFields {
        guard ResponseFieldSet(fields).contains(.dropped) else { return fields }
        var options: Set<HTTPField.Name> = []
        for value in fields[values: .connection] {
            for option in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = option.filter { $0 != 0x20 && $0 != 0x09 }
                if let name = HTTPField.Name(String(decoding: name, as: UTF8.self)) { options.insert(name) }
            }
        }
        // Fields that limit the use of a response are for every recipient, whatever `Connection` says (RFC 9110 §7.6.1).
        options.subtract([.cacheControl, .expires, .vary])
        return HTTPFields(fields.filter { !ResponseFieldSet.isDropped($0.name) && !options.contains($0.name) })
    }

    // §3.2: a 304 never changes the length. The coding stays, because the stored body may have been decoded. A range
    // describes another body.
    private static let notUpdated: Set<HTTPField.Name> = [.contentEncoding, .contentLength, .contentRange]

    /// Whether an inner redirect led to another origin, whose cookies don't belong to the request's origin.
    static func isOfAnotherOrigin(_ response: HTTPResponse, _ request: HTTPRequest) -> Bool {
        response.url.map { Origin($0) != Origin(request.url) } ?? false
    }

    /// A stored response with the fields of a 304, or of a response to HEAD (§3.2, §4.3.4).
    func freshened(
        _ stored: CachedResponse,
        by response: HTTPResponse,
        to request: HTTPRequest,
        timing: Timing
    ) -> CachedResponse {
        var new = stored
        var fields = HTTPFields(Self.kept(response.headerFields).filter { !Self.notUpdated.contains($0.name) })
        if Self.isOfAnotherOrigin(response, request) { fields.remove(.setCookie) }
        if Self.date(fields, .date, now: timing.wallTime) == nil { fields[.date] = HTTPDate.format(timing.wallTime) }
        // A weak match doesn't promise identical bytes: the stored body keeps the weak tag that it came with.
        if let own = EntityTag(of: stored.headerFields), own.isWeak, EntityTag(of: fields)?.matchesWeakly(own) == true {
            fields.remove(.eTag)
        }
        new.headerFields.override(with: fields)
        new.initialAge = Self.initialAge(response.headerFields, timing: timing)
        new.responseTime = timing.responseTime
        new.needsValidation = false
        if fields.contains(.vary) { new.selectingFields = selectingFields(request.headerFields, for: new.headerFields) }
        return new.parse()
    }
}

extension CachePolicy {
    /// The decision about the server's response to a forwarded request.
    enum StorageDecision: Equatable {
        /// Return the response, and store it in place of some entries.
        case store(CachedResponse, replacing: [Int])
        /// Return the response without storing it, for a reason, and remove some entries.
        case pass(CacheOutcome.Storing, removing: [Int] = [])
        /// Update stored responses; return the selected one, or the server's response as it is.
        case freshen([Int: CachedResponse], answer: Bool, mayStore: Bool)
        /// Discard the response, and return the selected stored response, which is stale.
        case serveStale(CacheOutcome.StaleReason)
        /// The response answers a condition that only the cache added: send the request again without it.
        case sendAgain
    }

    /// - Parameter request: the caller's request, without the fields of `forward`.
    func receive(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        _ forward: Forward,
        stored: [CacheEntry],
        timing: Timing
    ) -> StorageDecision {
        if forward.reason == .bypass || forward.reason == .method {
            return decision(about: response, to: request, timing, replacing: [], orRemoving: [])
        }
        if request.method == .head { return receiveHead(response, request, stored: stored, timing: timing) }
        if response.status == 304 { return receiveNotModified(response, request, forward, stored: stored, timing) }
        if let selected = forward.selected, Self.isServerFailure(response.status),
            case .served(let reason) = afterFailure(stored[selected].response, request, now: timing.responseTime),
            reason != .disconnected
        {
            return .serveStale(reason)
        }
        let outdated = stored.indices.filter { matches(stored[$0].response, request) }
        let replaces = response.status.kind == .successful && response.status != 206
        let isGone = response.status == 404 || response.status == 410
        return decision(
            about: response,
            to: request,
            timing,
            replacing: outdated,
            orRemoving: replaces || isGone ? outdated : []
        )
    }

    // RFC 9111 §4.3.5
    private func receiveHead(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        stored: [CacheEntry],
        timing: Timing
    ) -> StorageDecision {
        guard response.status == 200, request.context.cacheMode != .doNotStore,
            !CacheControl(request.headerFields).noStore
        else { return .pass(.method) }
        var updates: [Int: CachedResponse] = [:]
        for index in stored.indices where matches(stored[index].response, request) {
            let old = stored[index]
            guard old.response.status == 200 else { continue }
            if Self.describes(response.headerFields, old), !CacheControl(response.headerFields).noStore {
                updates[index] = freshened(old.response, by: response, to: request, timing: timing)
            } else {
                updates[index] = old.response
                updates[index]?.needsValidation = true
            }
        }
        return updates.isEmpty ? .pass(.method) : .freshen(updates, answer: false, mayStore: true)
    }

    private static func describes(_ head: HTTPFields, _ stored: CacheEntry) -> Bool {
        let own = stored.response.headerFields
        if let value = head[.lastModified], value != own[.lastModified] { return false }
        if let value = head[.eTag], value != own[.eTag] {
            // For compressed content, a server may send a weak tag for GET and the strong tag for HEAD.
            guard let tag = EntityTag(value), EntityTag(of: own)?.matchesWeakly(tag) == true else { return false }
        }
        guard let length = head[.contentLength] else { return true }
        if let ownLength = own[.contentLength] { return length == ownLength }
        // A compressed length can't be compared with a body that was decompressed before it was stored.
        return head.contains(.contentEncoding) || length == String(stored.length)
    }

    // RFC 9111 §4.3.3, §4.3.4
    private func receiveNotModified(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        _ forward: Forward,
        stored: [CacheEntry],
        _ timing: Timing
    ) -> StorageDecision {
        let asked = forward.isConditional
        let callersOwn = request.headerFields.contains(.ifNoneMatch) || request.headerFields.contains(.ifModifiedSince)
        let mayStore =
            request.context.cacheMode != .doNotStore && !CacheControl(request.headerFields).noStore
            && !CacheControl(response.headerFields).noStore
        let confirmed = confirmed(
            by: response.headerFields,
            stored: stored,
            request,
            nominated: asked ? forward.selected : nil,
            isAlone: !callersOwn
        )
        var updates: [Int: CachedResponse] = [:]
        for index in confirmed {
            updates[index] = freshened(stored[index].response, by: response, to: request, timing: timing)
        }
        if asked, let selected = forward.selected, updates[selected] != nil {
            return .freshen(updates, answer: true, mayStore: mayStore)
        }
        if callersOwn, !asked || Self.isCallers(response.headerFields, request.headerFields) {
            return updates.isEmpty ? .pass(.status) : .freshen(updates, answer: false, mayStore: mayStore)
        }
        return asked ? .sendAgain : .pass(.status)
    }

    private static func isCallers(_ response: HTTPFields, _ request: HTTPFields) -> Bool {
        guard let tag = EntityTag(of: response) else { return false }
        return EntityTagCondition(request)?.matches(tag) ?? false
    }

    /// - Parameters:
    ///   - nominated: the index of the stored response whose validator the cache sent.
    ///   - isAlone: whether the caller's request had no validator.
    private func confirmed(
        by fields: HTTPFields,
        stored: [CacheEntry],
        _ request: HTTPRequest,
        nominated: Int?,
        isAlone: Bool
    ) -> [Int] {
        let candidates = stored.indices.filter {
            stored[$0].response.status == 200 && matches(stored[$0].response, request)
        }
        if let tag = EntityTag(of: fields) {
            let same = candidates.filter { index in
                guard let own = EntityTag(of: stored[index].response.headerFields) else { return false }
                // A server compares weakly (RFC 9110 §13.1.2), and may return a strong tag where the cache sent a weak tag.
                // nginx does so for compressed content. An equal opaque part identifies the stored response.
                return tag.isWeak || index == nominated ? own.matchesWeakly(tag) : own.matchesStrongly(tag)
            }
            guard tag.isWeak else { return same }
            if let nominated, same.contains(nominated) { return [nominated] }
            return Self.mostRecent(same, stored)
        }
        if let modified = fields[.lastModified] {
            return Self.mostRecent(
                candidates.filter { stored[$0].response.headerFields[.lastModified] == modified },
                stored
            )
        }
        // Without a validator, a 304 can only confirm the response that the cache asked about.
        return isAlone ? nominated.map { [$0] } ?? [] : []
    }

    private static func mostRecent(_ indices: [Int], _ stored: [CacheEntry]) -> [Int] {
        indices.max { stored[$0].response.responseTime < stored[$1].response.responseTime }.map { [$0] } ?? []
    }

    static func isServerFailure(_ status: HTTPResponse.Status) -> Bool {
        switch status.code {
        case 500, 502, 503, 504: true
        default: false
        }
    }

    /// Whether an error is equivalent to such a status from a gateway: the server failed, rather than the caller or the
    /// server's certificate.
    static func isServerFailure(_ error: any Error) -> Bool {
        if let response = (error as? any ResponseError)?.response { return isServerFailure(response.status) }
        guard let code = (error as? TransportError)?.code else { return false }
        return failures.contains(code)
    }

    private static let failures: Set<TransportError.Code> = [
        .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated, .invalidResponse, .other,
    ]
}

extension CachePolicy {
    /// The URLs whose stored responses an unsafe request invalidates (RFC 9111 §4.4); empty after an error status.
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [URL] {
        guard !request.method.isSafe, mayHaveActed(response), let origin = Origin(request.url) else { return [] }
        var urls = [request.url]
        for name in [HTTPField.Name.location, .contentLocation] {
            for value in response.headerFields[values: name] {
                if let url = URL(string: value, relativeTo: request.url)?.absoluteURL, Origin(url) == origin {
                    urls.append(url)
                }
            }
        }
        return urls
    }

    /// Whether the server may have acted on the request: it says so, an earlier attempt may have reached it, or only a gateway
    /// has answered. A retried DELETE, for instance, ends in a 404 after the first one was carried out.
    private static func mayHaveActed(_ response: HTTPResponse) -> Bool {
        let code = response.status.code
        return 200..<400 ~= code || code == 502 || code == 504 || !response.context.attempts.isEmpty
    }
}

public import InterceptorsTransport

/// Watches the elements of a chain, each from its outside: journals, metrics and traces of each step are observers.
///
/// A chain asks its observer once, when it is made, for an interceptor around each element and a transport around its own. A chain without
/// an observer costs nothing more.
public protocol ChainObserver: AnyObject, Sendable {
    /// An interceptor that runs another one and watches it.
    ///
    /// - Parameters:
    ///   - interceptor: the element to run.
    ///   - name: the element's name in the printed chain.
    ///   - isFirst: whether the element is the outermost one of its chain.
    func observing(_ interceptor: any Interceptor, named name: String, isFirst: Bool) -> any Interceptor

    /// A transport that runs another one and watches it.
    ///
    /// - Parameters:
    ///   - transport: the transport to run.
    ///   - isFirst: whether its chain has no interceptors.
    func observing(_ transport: any Transport, isFirst: Bool) -> any Transport

    /// Decides which values the observer replaces as secrets; by default `nil`. A field that it replaces doesn't go to another origin.
    var redaction: Redaction? { get }
}

extension ChainObserver {
    /// No values are replaced.
    public var redaction: Redaction? { nil }
}

/// One run of one element, as an observer sees it. A request carries the step that it has reached, see
/// ``InterceptorsTransport/HTTPContext/observedStep``.
public protocol ObservedStep: AnyObject, Sendable {
    /// The observer's number of the call.
    var callID: Int { get }

    /// Keeps a note of the element.
    func add(_ note: CallNote)
}

extension HTTPContext {
    private enum StepKey: HTTPContextKey { static var defaultValue: (any ObservedStep)? { nil } }

    /// On a request: the run of the element that the request has reached, set by the chain's observer; `nil` without an observer.
    ///
    /// ```swift
    /// let quota: AnyInterceptor = .intercept { request, next in
    ///     let step = request.context.observedStep
    ///     let response = try await next(request)
    ///     if response.status == 429 { step?.add("The quota is used up.") }
    ///     return response
    /// }
    /// ```
    public var observedStep: (any ObservedStep)? {
        get { self[StepKey.self] }
        set { self[StepKey.self] = newValue }
    }

    /// On a request that begins a call: the run of the element that makes the call, such as a refresh.
    public var callingStep: (any ObservedStep)? { sender?.caller }
}

extension ChainObserver {
    /// The end of a chain: the watched transport, or the transport itself if its elements are watched.
    func end(of transport: any Transport, isFirst: Bool) -> any Transport {
        guard let chained = transport as? any ChainedTransport, chained.chain.observer == nil else {
            let isWatched = (transport as? any ChainedTransport)?.chain.observer === self
            return isWatched ? transport : observing(transport, isFirst: isFirst)
        }
        let chain = chained.chain
        return chained.with(InterceptorChain(chain.interceptors, transport: chain.transport, observer: self))
    }
}

extension [any Interceptor] {
    /// The interceptors to link, each with an observer around it.
    ///
    /// - Parameter beginChain: whether the first of them is the outermost element of a chain.
    func elements(observedBy observer: any ChainObserver, beginChain: Bool) -> Self {
        elements.enumerated().map { index, element in
            let isFirst = beginChain && index == 0
            guard let part = element as? InterceptorGroup else {
                return observer.observing(element, named: InterceptorChain.name(element), isFirst: isFirst)
            }
            // Not the group's full name, because its elements are steps too.
            return observer.observing(part.observed(by: observer), named: "when", isFirst: isFirst)
        }
    }
}

/// Watches the elements of a chain, each from its outside.
///
/// A chain with an observer links other elements than one without. So a hop of a chain without an observer costs nothing more.
protocol ChainObserver: AnyObject, Sendable {
    /// An interceptor that runs another one, which a chain spells by a name, and watches it.
    ///
    /// - Parameter isFirst: whether it is the outermost element of its chain.
    func observing(_ interceptor: any Interceptor, named name: String, isFirst: Bool) -> any Interceptor

    /// A transport that runs another one and watches it.
    ///
    /// - Parameter isFirst: whether its chain has no interceptors.
    func observing(_ transport: any Transport, isFirst: Bool) -> any Transport
}

/// A transport with elements that an observer can watch one by one.
protocol ObservableTransport: Transport {
    /// The observer of its elements, if any.
    var observer: (any ChainObserver)? { get }

    /// The same transport with another observer.
    func observed(by observer: any ChainObserver) -> any Transport
}

extension ChainObserver {
    /// The end of a chain: the watched transport, or the transport itself if its elements are watched.
    func end(of transport: any Transport, isFirst: Bool) -> any Transport {
        guard let observable = transport as? any ObservableTransport else {
            return observing(transport, isFirst: isFirst)
        }
        guard let other = observable.observer else { return observable.observed(by: self) }
        return other === self ? transport : observing(transport, isFirst: isFirst)
    }
}

extension InterceptorChain: ObservableTransport {
    func observed(by observer: any ChainObserver) -> any Transport {
        InterceptorChain(interceptors, transport: transport, observer: observer)
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

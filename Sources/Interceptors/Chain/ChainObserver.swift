/// Watches the elements of a chain, each from its outside.
///
/// A chain with an observer links other elements than one without. So a hop of a chain without an observer costs nothing more.
protocol ChainObserver: AnyObject, Sendable {
    /// An interceptor that runs another one, which a chain spells by a name, and watches it.
    func observing(_ interceptor: any Interceptor, named name: String) -> any Interceptor

    /// A transport that runs another one and watches it.
    func observing(_ transport: any Transport) -> any Transport
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
    func end(of transport: any Transport) -> any Transport {
        guard let observable = transport as? any ObservableTransport else { return observing(transport) }
        guard let other = observable.observer else { return observable.observed(by: self) }
        return other === self ? transport : observing(transport)
    }
}

extension InterceptorChain: ObservableTransport {
    func observed(by observer: any ChainObserver) -> any Transport {
        InterceptorChain(interceptors, transport: transport, observer: observer)
    }
}

extension [any Interceptor] {
    /// The interceptors to link, each with an observer around it.
    func elements(observedBy observer: any ChainObserver) -> Self {
        elements.map { element in
            guard let part = element as? InterceptorGroup else {
                return observer.observing(element, named: InterceptorChain.name(element))
            }
            // The names of its elements are steps of their own.
            return observer.observing(part.observed(by: observer), named: "when")
        }
    }
}

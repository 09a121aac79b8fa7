internal import InterceptorsTransport

extension InterceptorChain {
    /// Decides which fields of the chain's requests are never sent to another origin (`Redaction.isBoundToOrigin(_:)`).
    ///
    /// By the redaction of the outermost element that follows redirects, or the standard one, and by the fields that elements
    /// declare for their credentials.
    package var redirectRedaction: Redaction {
        let elements = LintedChain(self).elements
        let redaction = elements.first { $0.has(.followsRedirects) }?.placement?.redaction ?? .standard
        let names = elements.flatMap { $0.placement?.secretFields ?? [] }.map(\.rawName)
        return names.isEmpty ? redaction : redaction.adding(names: names)
    }
}

extension [any Interceptor] {
    /// The fields that the elements, and those of groups, declare for their credentials.
    var credentialFields: [HTTPField.Name] {
        flatMap { interceptor in
            let interceptor = interceptor.unwrapped
            if let group = interceptor as? InterceptorGroup { return group.interceptors.credentialFields }
            return (interceptor as? any PlacedInterceptor)?.placement.secretFields ?? []
        }
    }
}

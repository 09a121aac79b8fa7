extension Placement {
    /// Whether a role was declared, or is implied by one that was.
    package func includes(_ role: ChainRole) -> Bool { has(role) }

    /// Whether a role was declared by name, and not only implied by another.
    package func declares(_ role: ChainRole) -> Bool { declared.contains(role.name) }
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

import Testing

@testable import Interceptors

/// The chains that readers copy are in a right order.
@Suite(.againstHanging) struct DocumentedChainsTests {
    @Test func noChainInTheDocumentationOrTheExamplesHasAFinding() throws {
        let chains = try DocumentedChains().chains
        #expect(chains.count > 60)
        for chain in chains {
            let findings = InterceptorChain(chain.interceptors, transport: StubTransport()).findings
            #expect(findings == [], "\(chain.place)\n\(findings)")
        }
    }
}

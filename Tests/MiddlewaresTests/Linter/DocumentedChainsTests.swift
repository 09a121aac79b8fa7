import InterceptorsTesting
import Testing

@testable import InterceptorsCore

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

    @Test func anArrayMayBeginWithATypeOrAVariable() {
        let code = """
            let x: [any Interceptor] = [MyAuth(), .retry(maxAttempts: 3)]
            let y = [first, .group([.timeout(.seconds(1))])]
            let z = ["key": [language, .cache(.memory())]][index], other = [1, 2], statuses = [.headers, .retry]
            """
        let arrays = [
            "MyAuth(), .retry(maxAttempts: 3)", "first, .group([.timeout(.seconds(1))])", "language, .cache(.memory())",
        ]
        #expect(DocumentedChains.arrays(in: code) == arrays)
    }
}

import Foundation
import HTTPTypes
import Harness
import Interceptors

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

typealias OurFields = Interceptors.HTTPFields
typealias OurName = Interceptors.HTTPField.Name
typealias PeerFields = HTTPTypes.HTTPFields
typealias PeerName = HTTPTypes.HTTPField.Name

/// Hides from the optimiser that a result isn't used.
@inline(never)
func consume<Value>(_ value: Value) {}

guard let url = URL(string: "http://127.0.0.1/users/42") else { exit(1) }
let texts = (0..<20).map { ("X-Field-\($0)", "the value of field \($0)") }
let ourNames = texts.compactMap { OurName($0.0) }
let peerNames = texts.compactMap { PeerName($0.0) }
let values = texts.map(\.1)

@Sendable func ours(_ count: Int) -> OurFields {
    var fields = OurFields()
    for index in 0..<count { fields.append(ourNames[index], values[index]) }
    return fields
}

@Sendable func peers(_ count: Int) -> PeerFields {
    var fields = PeerFields()
    for index in 0..<count { fields.append(PeerTypes.field(peerNames[index], values[index])) }
    return fields
}

@Sendable func foundations(_ count: Int) -> URLRequest {
    var request = URLRequest(url: url)
    for index in 0..<count { request.addValue(values[index], forHTTPHeaderField: texts[index].0) }
    return request
}

enum PeerTypes {
    static func field(_ name: PeerName, _ value: String) -> HTTPTypes.HTTPField {
        HTTPTypes.HTTPField(name: name, value: value)
    }
}

@Sendable func contender(_ name: String, _ work: @escaping @Sendable () -> Void) -> Contender {
    Contender(name) { repetitions in for _ in 0..<repetitions { work() } }
}

@Sendable func compareFields(_ title: String, repetitions: Int, _ contenders: [Contender]) async throws {
    let costs = try await compare(title, repetitions: repetitions, contenders)
    for peer in ["swift-http-types", "URLRequest"] {
        goal("\(title): CPU of \(peer)", costs.ratio(peer, to: "HTTPFields", of: \.cpu), atLeast: 1, "times ours")
    }
}

let (ourTwenty, peerTwenty, foundationTwenty) = (ours(20), peers(20), foundations(20))

for (title, index) in [("first", 0), ("last", 19)] {
    try await compareFields(
        "Find the \(title) of 20 fields",
        repetitions: 20_000,
        [
            contender("HTTPFields") { consume(ourTwenty[ourNames[index]]) },
            contender("swift-http-types") { consume(peerTwenty[peerNames[index]]) },
            contender("URLRequest") { consume(foundationTwenty.value(forHTTPHeaderField: texts[index].0)) },
        ]
    )
}
try await compareFields(
    "Look for a field that isn't among 20",
    repetitions: 20_000,
    [
        contender("HTTPFields") { consume(ourTwenty[.accept]) },
        contender("swift-http-types") { consume(peerTwenty[.accept]) },
        contender("URLRequest") { consume(foundationTwenty.value(forHTTPHeaderField: "Accept")) },
    ]
)
try await compareFields(
    "Append a field to a copy of 5",
    repetitions: 20_000,
    [
        contender("HTTPFields") { [five = ours(5)] in
            var fields = five
            fields.append(.accept, "application/json")
            consume(fields)
        },
        contender("swift-http-types") { [five = peers(5)] in
            var fields = five
            fields.append(PeerTypes.field(.accept, "application/json"))
            consume(fields)
        },
        contender("URLRequest") { [five = foundations(5)] in
            var request = five
            request.addValue("application/json", forHTTPHeaderField: "Accept")
            consume(request)
        },
    ]
)
try await compareFields(
    "Build 20 fields",
    repetitions: 5_000,
    [
        contender("HTTPFields") { consume(ours(20)) },
        contender("swift-http-types") { consume(peers(20)) },
        contender("URLRequest") { consume(foundations(20)) },
    ]
)

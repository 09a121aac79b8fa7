import Foundation
import InterceptorsTransport

if let url = URL(string: "https://api.example.com/users/42") {
    let transport: any Transport = .platform()
    let response = try await transport.send(HTTPRequest(url: url))
    print(try await response.body.collect(upTo: 1_000_000).count)
}

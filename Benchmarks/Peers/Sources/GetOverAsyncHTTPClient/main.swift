import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat

struct User: Decodable, Sendable { let id: Int, name: String }

let request = HTTPClientRequest(url: "https://api.example.com/users/42")
let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
let body = try await response.body.collect(upTo: 1_000_000)
print(try JSONDecoder().decode(User.self, from: body).name)

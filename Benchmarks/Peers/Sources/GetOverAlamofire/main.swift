import Alamofire

struct User: Decodable, Sendable { let id: Int, name: String }

let user = try await AF.request("https://api.example.com/users/42").serializingDecodable(User.self).value
print(user.name)

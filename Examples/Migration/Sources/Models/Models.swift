package struct User: Codable, Equatable, Sendable {
    package let id: Int
    package let name: String

    package init(id: Int, name: String) {
        self.id = id
        self.name = name
    }
}

package struct NewUser: Codable, Equatable, Sendable {
    package let name: String

    package init(name: String) {
        self.name = name
    }
}

package struct Login: Codable, Equatable, Sendable {
    package let token: String
    package let refreshToken: String

    package init(token: String, refreshToken: String) {
        self.token = token
        self.refreshToken = refreshToken
    }
}

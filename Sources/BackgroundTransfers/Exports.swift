@_exported public import Middlewares

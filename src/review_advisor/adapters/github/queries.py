"""What is asked in GraphQL: what REST does not know. Each page of something stands under the name ``page``."""

from __future__ import annotations


def _paged(field: str, selection: str) -> str:
    return f"""
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      page: {field}(first: 100, after: $after) {{
        nodes {{ {selection} }}
        pageInfo {{ hasNextPage endCursor }}
      }}
    }}
  }}
}}"""


_ACTOR = "{ __typename login }"

COMMENTS = _paged("comments", f"fullDatabaseId author {_ACTOR} body editor {_ACTOR} lastEditedAt")
THREADS = _paged(
    "reviewThreads",
    f"id isResolved isOutdated comments(first: 1) {{ nodes {{ fullDatabaseId author {_ACTOR} body }} }}",
)
REMARKS = _paged(
    "reviewThreads",
    "path diffSide originalLine originalStartLine isResolved resolvedBy { login } comments(first: 1) { nodes {"
    f" author {_ACTOR} body editor {_ACTOR} lastEditedAt originalCommit {{ oid }}"
    " reactions(first: 100) { totalCount nodes { content user { login } } } } }",
)
LINKED_ISSUES = _paged("closingIssuesReferences", "number title body repository { nameWithOwner }")
RECENT = """
query($owner: String!, $name: String!, $check: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    page: pullRequests(first: 50, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      nodes {
        number updatedAt closedAt isCrossRepository
        author { __typename ... on Bot { databaseId } ... on User { databaseId } }
        commits(last: 1) { nodes { commit {
          checkSuites(first: 20, filterBy: {checkName: $check}) { nodes {
            app { slug }
            checkRuns(first: 20, filterBy: {checkName: $check, checkType: ALL}) { nodes { externalId conclusion } }
          } }
        } } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}"""
RESOLVE_THREAD = """
mutation($thread: ID!) { resolveReviewThread(input: {threadId: $thread}) { thread { id isResolved } } }"""

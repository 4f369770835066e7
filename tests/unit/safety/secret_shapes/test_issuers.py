"""Every form of token that an issuer hands out is recognised, down to the shortest token of that form."""

import re
from collections.abc import Mapping

import pytest
from benchmarks._secret_samples import one_mark_each

from review_advisor.core.safety.secret_shapes import mark, redact
from review_advisor.core.safety.secret_shapes.issuers import FORMATS

SHORTEST = {
    "1Password key": "A3-{C6}-{C11}-{C5}-{C5}-{C5} A3-{C6}-{C6}-{C5}-{C5}-{C5}-{C5}",
    "1Password token": "ops_eyJ{W100}",
    "Adobe secret": "p8e-{W32}",
    "age key": "AGE-SECRET-KEY-1{C58}",
    "Airtable token": "pat{W14}.{H64}",
    "Alibaba Cloud key id": "LTAI{W16}",
    "Anthropic key": "sk-ant-{W16}",
    "API key": "sk-{W32}",
    "Artifactory token": "AKCp{W50} cmVmdGtu{W50}",
    "Atlassian token": "ATATT3{W28} ATCTT3{W28} ATBB{W28} ATTA{W28}",
    "AWS access key id": "AKIA{C16} ASIA{C16} ABIA{C16} ACCA{C16}",
    "AWS Bedrock key": "ABSK{W109} bedrock-api-key-{W40}",
    "Azure AD secret": "{W3}8Q~{W31}",
    "Azure key": "{W52}JQQJ99{W26}",
    "Azure signature": "sig=<{W43}=>",
    "Azure storage key": "AccountKey=<{W86}==> SharedAccessKey=<{W43}=>",
    "Braintree token": "access_token$production${B16}${H32}",
    "Brevo key": "xkeysib-{W64} xsmtpsib-{W64}",
    "Buildkite token": "bkua_{H40}",
    "Cerebras key": "csk-{B40}",
    "CircleCI token": "CCIPAT_{W22}",
    "Clojars token": "CLOJARS_{W60}",
    "Cloudflare key": "v1.0-{H24}-{H100}",
    "Contentful token": "CFPAT-{W40}",
    "crates.io token": "cio{W32}",
    "Databricks token": "dapi{H32}",
    "Defined Networking key": "dnkey-{W26}-{W52}",
    "DigitalOcean token": "dop_v1_{H64} doo_v1_{H64} dor_v1_{H64}",
    "Discord token": (
        "MT{W22}.{W6}.{W27} Mj{W22}.{W6}.{W27} Mz{W22}.{W6}.{W27} ND{W22}.{W6}.{W27} NT{W22}.{W6}.{W27} "
        "Nj{W22}.{W6}.{W27} Nz{W22}.{W6}.{W27} OD{W22}.{W6}.{W27} OT{W22}.{W6}.{W27}"
    ),
    "Discord webhook": "https://discord.com/api/webhooks/{D17}/<{W60}>",
    "Docker token": "dckr_pat_{W20} dckr_oat_{W20}",
    "Doppler token": "dp.pt.{W40} dp.st.{W40} dp.ct.{W40} dp.sa.{W40} dp.scim.{W40} dp.audit.{W40}",
    "Dropbox token": "sl.{W130}",
    "Duffel token": "duffel_live_{W43} duffel_test_{W43}",
    "Dynatrace token": "dt0c01.{C8}.{C64}",
    "EasyPost key": "EZAK{W54} EZTK{W54}",
    "ElevenLabs key": "sk_{H48}",
    "Facebook token": "EAA{W80}",
    "Figma token": "figd_{W36} figo_{W36} figu_{W36}",
    "Flutterwave key": "FLWSECK-{W12} FLWSECK_TEST-{W12}",
    "Fly.io token": "fo1_{W43} fm1r_{W80} fm1a_{W80} fm2_{W80}",
    "Frame.io token": "fio-u-{W60}",
    "GitHub token": "ghp_{W20} gho_{W20} ghu_{W20} ghs_{W20} ghr_{W20} github_pat_{W22}",
    "GitLab token": (
        "glpat-{W20} gldt-{W20} glrt-{W20} glft-{W20} glimt-{W20} glagent-{W20} glsoat-{W20} "
        "glffct-{W20} gloas-{W20} glptt-{W20} glcbt-{W20} GR1348941{W20}"
    ),
    "Google API key": "AIza{W35}",
    "Google OAuth secret": "GOCSPX-{W20}",
    "Google OAuth token": "ya29.{W20} 1//0{W40}",
    "Grafana key": "eyJrIjoi{W60}",
    "Grafana token": "glc_{W32} glsa_{W32}_{H8}",
    "Groq key": "gsk_{W48}",
    "Harness token": "pat.{W22}.{W24}.{W20} sat.{W22}.{W24}.{W20}",
    "Heroku key": "HRKU-AA{W40}",
    "Honeycomb key": "hcaik_{W50} hcxik_{W50} hcalk_{W50}",
    "HubSpot token": "pat-na1-{I} pat-eu1-{I}",
    "Hugging Face token": "hf_{W34} api_org_{W34}",
    "Infracost key": "ico-{W32}",
    "LangSmith key": "lsv2_pt_{H32} lsv2_sk_{H32}",
    "LaunchDarkly key": "sdk-{I}",
    "Linear key": "lin_api_{W32} lin_oauth_{W32}",
    "Mailchimp key": "{H32}-us1",
    "Mailgun key": "key-{H32}",
    "Mapbox token": "sk.eyJ{W60}",
    "MaxMind key": "{W6}_{W29}_mmk",
    "Neon key": "napi_{W48}",
    "Netlify token": "nfp_{W36}",
    "New Relic key": "NRAK-{W27} NRII-{W27} NRRA-{W27} NRIQ-{W27}",
    "Notion token": "ntn_{W43} secret_{W43}",
    "npm token": "npm_{W36}",
    "NuGet key": "oy2{B43}",
    "NVIDIA key": "nvapi-{W60}",
    "Octopus Deploy key": "API-{C25}",
    "OpenAI key": "sk-proj-{W32} sk-svcacct-{W32} sk-admin-{W32}",
    "OpenRouter key": "sk-or-v1-{H64}",
    "OpenShift token": "sha256~{W43}",
    "Perplexity key": "pplx-{W40}",
    "Pinecone key": "pcsk_{W50}",
    "Plaid token": "access-sandbox-{I}",
    "PlanetScale key": "pscale_tkn_{W32} pscale_pw_{W32} pscale_oauth_{W32}",
    "Postman key": "PMAK-{H24}",
    "Prefect key": "pnu_{W36} pnb_{W36}",
    "Pulumi token": "pul-{H40}",
    "PyPI token": "pypi-AgEIcHlwaS5vcmc{W50} pypi-AgENdGVzdC5weXBpLm9yZw{W50}",
    "Razorpay key id": "rzp_live_{W14} rzp_test_{W14}",
    "ReadMe key": "rdme_{B60}",
    "Replicate token": "r8_{W37}",
    "Resend key": "re_{W8}_{W24}",
    "RubyGems key": "rubygems_{H48}",
    "SendGrid key": "SG.{W20}.{W39}",
    "Sentry token": "sntrys_{W60} sntryu_{W60}",
    "Shippo token": "shippo_live_{H40} shippo_test_{H40}",
    "Shopify token": "shpat_{H32} shpss_{H32} shpca_{H32} shppa_{H32}",
    "Slack token": (
        "xoxe.xox{W40} xoxa-{W10} xoxb-{W10} xoxe-{W10} xoxo-{W10} xoxp-{W10} xoxr-{W10} xoxs-{W10} "
        "xapp-1-{C6}-{D6}-{W20}"
    ),
    "Slack webhook": "https://hooks.slack.com/services/<{W40}>",
    "SonarQube token": "squ_{H40} sqp_{H40} sqa_{H40}",
    "Sourcegraph token": "sgp_{W40}",
    "Square token": "sq0atp-{W22} sq0csp-{W22} EAAA{W60}",
    "Stripe key": "sk_live_{W16} sk_test_{W16} rk_live_{W16} rk_test_{W16} sk_prod_{W16}",
    "Stripe webhook secret": "whsec_{W32}",
    "Supabase key": "sbp_{H40} sb_secret_{W20}",
    "Tailscale key": "tskey-{W20}",
    "Tavily key": "tvly-{W30}",
    "Teams webhook": "https://a.webhook.office.com/webhookb2/<{I}@{I}/IncomingWebhook/{H32}/{I}>",
    "Telegram token": "{D8}:<AA{W33}>",
    "Tencent Cloud key id": "AKID{W32}",
    "Terraform token": "{W14}.atlasv1.{W60}",
    "Together key": "tgp_v1_{W40}",
    "Twilio key": "SK{H32}",
    "Typeform token": "tfp_{W40}",
    "Vault token": "hvs.{W24} hvb.{W24} hvr.{W24} s.{W24}",
    "Vercel token": "vcp_{W24} vci_{W24} vca_{W24} vcr_{W24} vck_{W24}",
    "web token": "eyJ{W10}.eyJ{W10}.{W10}",
    "X bearer token": "AAAAAAAAAAAAAAAAAAAA<{W60}>",
    "xAI key": "xai-{W70}",
    "Yandex Cloud key": "AQVN{W35} YC{W38}",
}
"""Letters and digits stand for what is drawn: ``{W20}`` for twenty of both cases, ``{B20}`` for lower and ``{C20}`` for
upper case, ``{H20}`` for hexadecimal ones, ``{D20}`` for digits, ``{I}`` for a UUID. Where only a part of a text is the
secret, it stands between ``<`` and ``>``."""
LOOSE = (
    "LTAI sk- AKCp cmVmdGtu ATATT3 ATCTT3 ATBB ATTA ABSK 8Q~ sig= csk- cio MT Mj Mz ND NT Nj Nz OD OT sl. EZAK "
    "EZTK EAA fo1_ AIza 1//0 glc_ gsk_ hf_ api_org_ ico- key- napi_ nfp_ ntn_ secret_ oy2 API- pnu_ pnb_ r8_ "
    "re_ EAAA tskey- tvly- AKID SK hvs. hvb. hvr. s. vcp_ vci_ vca_ vcr_ vck_ AAAAAAAAAAAAAAAAAAAA AQVN YC "
)
"""What the tokens begin with whose form other texts have as well."""
DRAWN = {"W": "x7Kq2Zv9Bm4Tj6Rw1Ly8Hd3", "H": "7c2e9a4f1d8b05e3", "D": "70412958"}
DRAWN |= {"B": DRAWN["W"].lower(), "C": DRAWN["W"].upper()}


ONE_LETTER = {"W": "a", "H": "a", "D": "1", "B": "a", "C": "A"}
EXAMPLES = [(kind, example) for kind, examples in SHORTEST.items() for example in examples.split()]


def drawn(form: str, of: Mapping[str, str] = DRAWN) -> str:
    form = form.replace("{I}", "{H8}-{H4}-{H4}-{H4}-{H12}")
    return re.sub(r"\{([A-Z])(\d+)\}", lambda part: (of[part[1]] * 130)[: int(part[2])], form)


def is_loose(example: str) -> bool:
    return any(re.match(rf"(?:\{{W3\}})?{re.escape(begin)}<?\{{", example) for begin in LOOSE.split())


@pytest.mark.parametrize("kind", SHORTEST)
def test_the_shortest_token_of_each_form_goes_and_its_mark_names_the_issuer(kind: str) -> None:
    for token in map(drawn, SHORTEST[kind].split()):
        before, _, rest = token.rpartition("<")
        shown = one_mark_each(redact(f"setting: '{before}{rest.removesuffix('>')}'"))
        assert shown == f"setting: '{before}{mark(kind)}'"


def test_each_form_has_its_example_here() -> None:
    assert {form.kind for form in FORMATS} == SHORTEST.keys()
    for form in FORMATS:
        assert any(form.holds in drawn(example).replace("<", "") for example in SHORTEST[form.kind].split()), form


@pytest.mark.parametrize("kind,example", EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_a_form_that_other_texts_have_counts_only_where_it_stands_alone_and_looks_random(
    kind: str, example: str
) -> None:
    for text in (f"'a{drawn(example)}'", f"'{drawn(example, ONE_LETTER)}'"):
        told = text.replace("<", "").replace(">", "")
        assert (mark(kind) in redact(told)) is not is_loose(example), told


PART = re.compile(r"\{([A-Z])(\d+)\}")
ONE_SHORTER = [
    (kind, example, part) for kind, example in EXAMPLES for part in range(len(PART.findall(example.replace("{I}", ""))))
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind, example, part", ONE_SHORTER, ids=[f"{each[1]} {each[2]}" for each in ONE_SHORTER])
def test_with_one_character_less_in_any_part_it_is_no_token_of_that_issuer(kind: str, example: str, part: int) -> None:
    place = list(PART.finditer(example))[part]
    shorter = f"{example[: place.start()]}{{{place[1]}{int(place[2]) - 1}}}{example[place.end() :]}"
    told = drawn(shorter).replace("<", "").replace(">", "")
    assert mark(kind) not in redact(f"setting: '{told}'"), told

